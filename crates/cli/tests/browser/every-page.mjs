// Every page, light, dark, on a phone and, on a narrow one, in French: nobody is kept out, nothing complains, everything fits, every page
// stays up to date, and each is kept as a picture.
import { assert, enter, field, finish, given, isLive, look, lookEveryWay, screen, send, shot, words } from './browser.mjs';

const NOWHERE = '/runs/run_00000000000000000000000000000000';
const pages = { ...given.pages, nowhere: NOWHERE };

// What is folded away is for everybody too.
async function unfold(page) {
  const folded = page.locator('main details:not([open]) > summary:visible');
  while (await folded.count()) await folded.first().click();
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
  assert.equal(answer.status(), name === 'nowhere' ? 404 : 200, name);
  await isLive(page);
  await unfold(page);
  inEnglish[name] = await words(page);
  await lookEveryWay(page, name);
  if (name === 'executed') {
    const saved = page.waitForEvent('download');
    await page.locator('a[download]').first().click();
    assert.equal(await (await saved).failure(), null, 'evidence is saved');
  }
}
// What only an answer to a form shows.
await page.goto(`${given.url}/policy`);
await field(page, 'Tool').selectOption('nmap');
await send(page, page.getByRole('button', { name: 'Judge' }));
await lookEveryWay(page, 'judged');
await page.goto(`${given.url}/settings`);
await send(page, page.getByRole('button', { name: 'Make a one-time link' }).first());
await lookEveryWay(page, 'link');
assert.deepEqual(page.complaints.filter((text) => !text.includes('404')), []);

const narrow = await screen({ viewport: { width: 360, height: 780 }, isMobile: true, hasTouch: true, locale: 'fr-FR' });
await enter(narrow, given.links[1]);
let said = 0;
for (const [name, path] of Object.entries(pages)) {
  await narrow.goto(given.url + path);
  await unfold(narrow);
  const inFrench = await words(narrow);
  said += inFrench.length;
  assert.deepEqual(inFrench.filter((text) => inEnglish[name].includes(text)), [], `${name} says in English in French`);
  await look(narrow, `${name} (French, 360 pixels)`);
  await shot(narrow, `${name}-french`);
}
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
