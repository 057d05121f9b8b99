// A reviewer's view on a phone: the card takes more room than the decision, and no address is cut off.
import { ask, assert, enter, finish, given, look, screen, shot } from './browser.mjs';

const page = await screen({ viewport: { width: 390, height: 844 } });
await enter(page, given.links[0]);

// The decision takes at most a quarter of the screen at every scroll position, and both buttons can be reached.
const bar = async () => (await page.locator('.card .decide').boundingBox()).height;
const inSight = (name) => page.locator('.card .decide').getByRole('button', { name });
for (const [what, path] of [['one', `/actions/${given.one}`], ['two', `/actions/${given.two}`], ['inbox', `/?action=${given.one}`]]) {
  await page.goto(given.url + path);
  for (const to of ['0', 'document.body.scrollHeight / 2', 'document.body.scrollHeight']) {
    await ask(page, `scrollTo(0, ${to})`);
    const height = await bar();
    assert.ok(height <= 844 / 4, `${what}: the decision takes ${height} of 844 pixels`);
  }
  const approve = await inSight(/^Approve once/).boundingBox();
  assert.ok(approve.y >= 0 && approve.y + approve.height <= 844, `${what}: the button that approves is in sight`);
  await inSight(/^Reject/).scrollIntoViewIfNeeded();
  await look(page, `${what} on a phone`);
  await shot(page, `on-a-phone-${what}`);
}

// Every host in a line is unbroken, and no part of an address lies outside the card.
const HOSTS = `[...document.querySelectorAll('__IN__ .host')].map((host) => {
  const range = document.createRange();
  range.selectNodeContents(host);
  const { left, right } = host.getBoundingClientRect();
  return { text: host.textContent, lines: range.getClientRects().length, left, right };
})`;
const whole = async (where) => {
  const found = await ask(page, HOSTS.replace('__IN__', where));
  assert.ok(found.some(({ text }) => text === given.origin), `${given.origin} in ${where}: ${JSON.stringify(found)}`);
  for (const { text, lines, left, right } of found) assert.ok(lines === 1 && left >= 0 && right <= 390, `${where}: ${text}: ${lines} lines, ${left} to ${right}`);
};
await page.goto(`${given.url}/actions/${given.one}`);
await whole('.card h1');
await whole('.card .argv');
// The list shows the target even if the text before it is long.
await page.goto(given.url);
await whole('.row .what');
await finish();
