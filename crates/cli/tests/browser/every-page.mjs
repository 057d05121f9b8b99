// Every page, light, dark, on a phone and, on a narrow one, in French: nobody is kept out, nothing complains, everything fits, every page
// stays up to date, and each is kept as a picture.
import { ask, assert, enter, field, finish, given, isLive, look, lookEveryWay, screen, send, shot, words } from './browser.mjs';

const NOWHERE = '/runs/run_00000000000000000000000000000000';
const pages = { ...given.pages, nowhere: NOWHERE, unknown: '/setings' };

// What is folded away is for everybody too.
async function unfold(page) {
  const folded = page.locator('main details:not([open]) > summary:visible');
  while (await folded.count()) await folded.first().click();
}

// Where some text stands, seen as a whole: left, top, right, bottom, of the first place that has it within these elements.
const place = (page, within, text) => ask(page, `(() => {
  for (const element of document.querySelectorAll(${JSON.stringify(within)})) {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const at = walker.currentNode.data.indexOf(${JSON.stringify(text)});
      if (at < 0) continue;
      const range = document.createRange();
      range.setStart(walker.currentNode, at);
      range.setEnd(walker.currentNode, at + ${JSON.stringify(text)}.length);
      const { left, right, top, bottom } = range.getBoundingClientRect();
      return { left, right, top: top - element.getBoundingClientRect().top, bottom };
    }
  }
  return null;
})()`);

// As lines are read: further up, or on the same line further to the left.
const isBefore = (one, other) => one.top < other.top - 6 || (Math.abs(one.top - other.top) <= 6 && one.left < other.left);

const DRAWN = `(() => {
  const picture = document.querySelector('.pictures img');
  picture.scrollIntoView();
  return picture.decode().then(() => picture.naturalWidth);
})()`;

// Whatever was tried, the eye finds it: what is dangerous stands within the screen, right behind how much was put before it.
async function nobodyIsFooled(page) {
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 });
    const danger = await place(page, '.argv', '; rm -rf docs');
    assert.ok(danger && danger.left >= 0 && danger.right <= width, `rm -rf is out of sight at ${width}: ${JSON.stringify(danger)}`);
    assert.ok(danger.top < 300, `rm -rf is pushed down at ${width}: ${danger.top}`);
    const end = await place(page, '.argv', 'rm -rf end');
    assert.ok(end && end.right <= width, `the end of a huge line is out of sight at ${width}: ${JSON.stringify(end)}`);
  }
  const shown = await page.locator('article.card').innerText();
  for (const told of ['⟦1500×U+0020⟧', '⟦U+001B⟧', '⟦U+202E⟧', '⟦U+0261⟧', '⟦U+0430⟧', '⟦U+00A0⟧', '⟦U+2003⟧', '⟦U+2800⟧', '⟦U+0336⟧', '⟦U+000D⟧', '⟦2×U+0020⟧',
    '⟦U+0301⟧', '<img src=x onerror=alert(1)>', '**bold** [a](javascript:b)', '<script>alert(1)</script>', 'Uninspectable']) {
    assert.ok(shown.includes(told), `${told} is not seen`);
  }
  const [alef, bet, after] = [await place(page, '.argv', '\u05d0'), await place(page, '.argv', '\u05d1'), await place(page, '.argv', ' /tmp')];
  assert.ok(isBefore(alef, bet) && isBefore(bet, after), 'letters that are written from right to left turn nothing around');
  const [shalom, equals] = [await place(page, '.code', '\u05e9'), await place(page, '.code', ' = 1')];
  assert.ok(isBefore(shalom, equals), 'nor do they in a file');
}

const outside = await screen();
await outside.goto(`${given.url}/`);
assert.match(outside.url(), /\/enter$/, 'who has no visit is asked to sign in');
await lookEveryWay(outside, 'enter');
await outside.goto(given.links[0]);
await lookEveryWay(outside, 'invitation');
assert.deepEqual(outside.complaints, []);

const page = await screen();
const inEnglish = {};
await enter(page, given.links[0]);
for (const [name, path] of Object.entries(pages)) {
  const answer = await page.goto(given.url + path);
  assert.equal(answer.status(), ['nowhere', 'unknown'].includes(name) ? 404 : 200, name);
  await isLive(page);
  await unfold(page);
  inEnglish[name] = await words(page);
  await lookEveryWay(page, name);
  if (name === 'hostile') await nobodyIsFooled(page);
  if (name === 'folded') assert.equal(await page.locator('#approve').count(), 0, 'what is folded is not approved');
  if (name === 'changed') assert.equal(await page.locator('.code tr.come u').first().innerText(), '8', 'the word that changed is told');
  if (name === 'found') {
    const kinds = await page.locator('tbody tr td:nth-child(2)').allInnerTexts();
    assert.ok(kinds.length > 3 && kinds.every((kind) => kind.startsWith('action.')), `found ${kinds}`);
    await field(page, 'Number of an entry').fill('3');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.waitForURL('**at=3**');
    await page.goBack();
  }
  if (name === 'asking') {
    // Six calls, each of 10 and 5 tokens, at 4 and 12 dollars for a million: one curve for each, drawn to where it ends.
    const curves = await page.locator('svg.chart:has(path.curve)').evaluateAll((charts) => charts.map((chart) => chart.getAttribute('aria-label')));
    assert.equal(curves.length, 2, `${curves}`);
    assert.ok(curves[0].endsWith(': $0.0006') && curves[1].endsWith(': 90'), `${curves}`);
    const high = await page.locator('path.curve').first().evaluate((curve) => curve.getBoundingClientRect().height);
    assert.ok(high > 60, `a curve of ${high} pixels`);
  }
  if (name === 'unknown') {
    await page.locator('nav a[href="/settings"]').first().click();
    await page.waitForURL('**/settings');
  }
  if (name === 'pictured') assert.equal(await ask(page, DRAWN), 120, 'a picture is seen');
  if (name === 'executed') {
    const saved = page.waitForEvent('download');
    await page.locator('a[download]').first().click();
    assert.equal(await (await saved).failure(), null, 'evidence is saved');
  }
}
// What only an answer to a form shows.
await page.goto(`${given.url}/policy`);
await field(page, 'Tool').selectOption('nmap');
await field(page, /^Files it is given/).fill('out/a.md');
await field(page, 'Target').fill('10.0.0.5');
await send(page, page.getByRole('button', { name: 'Judge' }));
await lookEveryWay(page, 'judged');
await page.goto(`${given.url}/settings`);
await send(page, page.getByRole('button', { name: 'Make a one-time link' }).first());
await lookEveryWay(page, 'link');
assert.deepEqual(page.complaints.filter((text) => !text.includes('404')), []);

const narrow = await screen({ viewport: { width: 360, height: 780 }, isMobile: true, hasTouch: true, locale: 'fr-FR' });
await enter(narrow, given.links[1]);
let said = 0;
const inEnglishStill = {};
for (const [name, path] of Object.entries(pages)) {
  await narrow.goto(given.url + path);
  await unfold(narrow);
  const inFrench = await words(narrow);
  said += inFrench.length;
  const still = inFrench.filter((text) => inEnglish[name].includes(text));
  if (still.length > 0) inEnglishStill[name] = still;
  const money = (await narrow.locator('main').innerText()).match(/\$\d[\d.]*|\d [KMG]iB/g) ?? [];
  assert.deepEqual(money, [], `${name}: money and sizes as the English write them`);
  assert.equal(await narrow.locator('.steps.across [lang=en]').count(), 0, `${name}: what steps led to is told in French`);
  await look(narrow, `${name} (French, 360 pixels)`);
  await shot(narrow, `${name}-french`);
}
assert.deepEqual(inEnglishStill, {}, 'said in English in French');
assert.ok(said > 50, `only ${said} things were said in French`);

// Where there is no room for both: the list until somebody chooses, then the card, and back.
const [list, card] = [narrow.locator('section.list'), narrow.locator('article.card')];
await narrow.goto(`${given.url}/`);
assert.deepEqual([await list.isVisible(), await card.isVisible()], [true, false]);
await narrow.locator('a.row').first().click();
await card.waitFor();
assert.equal(await list.isVisible(), false);
await narrow.getByRole('link', { name: '← À décider' }).click();
await list.waitFor();
assert.deepEqual(narrow.complaints.filter((text) => !text.includes('404')), []);
await finish();
