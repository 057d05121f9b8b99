// What programs say while they work: it comes to open pages by itself, a little of it at a time, and whoever scrolled up or selects
// something stays where they are. Without a script it is a page like any other.
import { ask, assert, enter, finish, given, isLive, look, lookEveryWay, screen, shot } from './browser.mjs';

const page = await screen();
await enter(page, given.links[0]);
const asked = [];
page.on('request', (request) => asked.push(new URL(request.url()).pathname));

// The newest number that stands on the page.
const newest = async (pattern) => {
  const all = [...(await page.locator('#log pre').innerText()).matchAll(pattern)];
  return Number(all.at(-1)?.[1] ?? 0);
};
const grows = async (pattern) => {
  const before = await newest(pattern);
  for (let tries = 0; tries < 100; tries += 1) {
    if (await newest(pattern) > before) return;
    await page.waitForTimeout(100);
  }
  assert.fail(`nothing came after ${before}`);
};

const NOTE = /looking at note (\d+)/g;
await page.goto(`${given.url}/runs/${given.run}`);
await isLive(page);
await page.getByRole('heading', { name: 'What its agent says' }).waitFor();
await grows(NOTE);
asked.length = 0;
await grows(NOTE);
await page.waitForTimeout(4_000);
const [whole, parts] = [`/runs/${given.run}`, `/runs/${given.run}/log`].map((path) => asked.filter((one) => one === path).length);
assert.ok(parts >= 2 && parts <= 8, `${parts} looks at what was said in about five seconds`);
assert.ok(whole <= 3, `the whole page was asked for ${whole} times although nothing else happened`);

// Hostile words are words.
const shown = await page.locator('#log').innerText();
assert.equal(await page.locator('#log pre b').count(), 0);
for (const part of ['⟦U+001B⟧', '⟦U+202E⟧', 'bytes are no text']) {
  if (!shown.includes(part)) await page.goto(`${given.url}/runs/${given.run}/log`);
  assert.ok((await page.locator('#log').innerText()).includes(part), part);
}
assert.ok(await page.locator('#log .stderr').count() > 0);

// At the end it follows; whoever scrolled up stays, and what somebody selected stays selected.
await page.goto(`${given.url}/runs/${given.run}/log`);
await isLive(page);
const place = () => ask(page, "document.querySelector('#log pre').scrollTop");
await ask(page, "document.querySelector('#log pre').style; document.querySelector('#log pre').scrollTop = 1e9");
const before = await place();
while (await place() <= before) await grows(NOTE);
await ask(page, `document.querySelector('#log pre').scrollTop = 0;
  getSelection().selectAllChildren(document.querySelector('#log pre .line'))`);
const chosen = await ask(page, 'String(getSelection())');
await grows(NOTE);
await grows(NOTE);
assert.equal(await place(), 0);
assert.equal(await ask(page, 'String(getSelection())'), chosen);
assert.ok(chosen.length > 0);

await lookEveryWay(page, 'saying-whole');
await page.setViewportSize({ width: 1440, height: 960 });
await page.goto(`${given.url}/runs/${given.run}`);
await grows(NOTE);
await lookEveryWay(page, 'saying-run');

// What an action says while it is executed, on its own page.
const STEP = /step (\d+) of 1000/g;
await page.setViewportSize({ width: 1440, height: 960 });
await page.goto(`${given.url}/actions/${given.action}`);
await isLive(page);
await grows(STEP);
await lookEveryWay(page, 'saying-action');
await page.setViewportSize({ width: 1440, height: 960 });
await page.getByRole('link', { name: 'Everything that is kept' }).click();
await page.waitForURL(`**/actions/${given.action}/log`);
await isLive(page);
await grows(STEP);
assert.deepEqual(page.complaints, []);

const french = await screen({ locale: 'fr-FR' });
await enter(french, given.links[1]);
await french.goto(`${given.url}/runs/${given.run}`);
await french.getByRole('heading', { name: 'Ce que dit son agent' }).waitFor();
await look(french, 'saying in French');
await shot(french, 'saying-run-french');

// Nobody needs a script to read it.
const plain = await screen({ javaScriptEnabled: false });
await enter(plain, given.links[2]);
await plain.goto(`${given.url}/runs/${given.run}`);
await plain.locator('#log').getByRole('link', { name: 'Everything that is kept' }).click();
await plain.waitForURL(`**/runs/${given.run}/log`);
assert.match(await plain.locator('#log pre').innerText(), /looking at note/);
await finish();
