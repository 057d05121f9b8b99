// Keys decide, and what comes while a page is open is there without a reload. What somebody is writing stays.
import { ask, assert, enter, finish, given, isLive, meanwhile, screen } from './browser.mjs';

const page = await screen();
await enter(page, given.links[0]);
await page.goto(`${given.url}/`);
await isLive(page);

// Somebody writes a reason while the agent goes on proposing.
await page.keyboard.press('r');
await page.keyboard.type('because of the ');
meanwhile(given.propose);
await page.getByRole('link', { name: /10\.0\.0\.9/ }).waitFor();
assert.equal(await page.locator('#reason').inputValue(), 'because of the ', 'what is being written stays');
await page.keyboard.press('Escape');

// Something riskier comes in: it stands first in the list, and what is looked at stays what it is.
await page.goto(`${given.url}/`);
await isLive(page);
const [title, seen] = [await page.locator('article h1').innerText(), await page.locator('#approve [name=seen]').inputValue()];
meanwhile(given.risky);
await page.getByRole('link', { name: /10\.0\.0\.0\/24/ }).waitFor();
assert.equal(await page.locator('article h1').innerText(), title, 'no other card is put under a hand');
assert.equal(await page.locator('#approve [name=seen]').inputValue(), seen);
await page.goto(`${given.url}/?tier=B`);
await isLive(page);

// Down the list, and approve by two strokes: the first only shows what the second one does.
await page.keyboard.press('j');
await page.waitForURL(/action=/);
const chosen = new URL(page.url()).searchParams.get('action');
await isLive(page);
await page.keyboard.press('a');
assert.match(page.url(), /action=/, 'one stroke decides nothing');
await page.keyboard.press('a');
await page.waitForURL(/just=/);
const there = page.url();
assert.ok(there.includes('tier=B') && there.includes('action='), 'the neighbour is looked at, in the same list');
await page.locator('#just[role=status]', { hasText: 'You approved' }).waitFor();
await page.keyboard.down('a');
await page.keyboard.down('a');
await page.keyboard.up('a');
await page.waitForTimeout(300);
assert.equal(page.url(), there, 'a key that is held down decides nothing more');
await page.goto(`${given.url}/actions/${chosen}`);
await page.getByText(/APPROVED|LEASED|EXECUTING|SUCCEEDED|FAILED/).first().waitFor();

// And by keys alone: to the list, down and up again, and away with the first, with a reason.
await page.keyboard.press('g');
await page.waitForURL(`${given.url}/`);
const titles = async () => [await page.locator('article h1').innerText(), await page.locator('a.row[aria-current]').innerText()];
const before = await titles();
await page.keyboard.press('j');
await page.waitForURL(/action=/);
const below = page.url();
await page.keyboard.press('k');
await page.waitForURL((url) => url.search.includes('action=') && url.href !== below);
assert.equal((await titles())[0], before[0], 'down and up again is where one was');
await isLive(page);
await page.keyboard.press('r');
await page.keyboard.type('not this one');
await page.waitForTimeout(600);
await page.keyboard.press('Enter');
await page.waitForURL(/just=/);
await page.locator('#just[role=status]', { hasText: 'You rejected' }).waitFor();

// The other keys unfold what they are about and go there, and decide nothing: once, twice, or held together with others.
const focus = () => ask(page, 'document.activeElement.id || document.activeElement.name || document.activeElement.tagName');
const isSeen = () => ask(page, '(() => { const { top, bottom } = document.activeElement.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight; })()');
await page.goto(`${given.url}/actions/${given.filed}`);
await isLive(page);
for (const [key, name] of [['e', 'arguments'], ['s', 'width'], ['w', 'assign-to'], ['l', 'defer-minutes']]) {
  await ask(page, 'document.activeElement.blur()');
  await page.keyboard.press(`Control+${key}`);
  await page.keyboard.press(`Alt+${key}`);
  assert.equal(await focus(), 'BODY', `${key} with others is not ours`);
  await page.keyboard.press(key);
  assert.equal(await focus(), name, key);
  assert.ok(await isSeen(), `where ${key} leads is seen`);
}
// Where somebody writes, keys write.
await page.keyboard.press('Escape');
await page.keyboard.press('e');
const wasWritten = await page.locator('#arguments').inputValue();
await page.keyboard.type('swlxdar');
assert.equal(await focus(), 'arguments');
assert.equal((await page.locator('#arguments').inputValue()).length, wasWritten.length + 7);
// Now that something is changed, the yes to what was proposed is held back, and says why; taken back, it is there again.
const held = () => ask(page, "document.querySelector('form#approve button').validationMessage");
assert.match(await held(), /You have changed something/);
await page.getByRole('button', { name: /Approve once/ }).click();
await page.locator('.status', { hasText: 'PENDING_APPROVAL' }).first().waitFor();
await page.locator('#arguments').fill(wasWritten);
assert.equal(await held(), '');
await page.locator('#arguments').focus();
await page.keyboard.press('Escape');
await page.keyboard.press('d');
assert.equal(await ask(page, 'document.activeElement.innerText.includes("notes.sh")'), true, 'd goes to its files');
await page.goto(`${given.url}/actions/${given.twin}`);
await isLive(page);
await page.keyboard.press('x');
await page.keyboard.press('x');
assert.equal(await ask(page, 'document.activeElement.form.id'), 'approve-all');
await page.waitForTimeout(300);
for (const id of [given.filed, given.twin]) {
  await page.goto(`${given.url}/actions/${id}`);
  await page.getByText('PENDING_APPROVAL').first().waitFor();
}

await page.keyboard.press('?');
await page.waitForURL('**/help');
for (const key of ['j', 'k', 'a', 'r', 'e', 's', 'x', 'w', 'l', 'd', 'g', '?']) await page.locator('kbd', { hasText: key }).first().waitFor();
assert.deepEqual(page.complaints, []);
await finish();
