// Somebody who has never seen it gets a link and is asked to do five things: approve, reject with a reason, change, go back, verify. They
// know no address, no id and no name of anything: all they have is what stands on the screen, and this walk has no more.
import { assert, enter, finish, given, screen, shot } from './browser.mjs';

const page = await screen();
await enter(page, given.links[0]);

// Eyes and hands. Nothing below uses anything else.
const seat = {
  presses: (name, within = page) => within.getByRole('button', { name }).click(),
  follows: (name) => page.getByRole('link', { name }).first().click(),
  writes: (label, text, within = page) => within.getByLabel(label, { exact: true }).fill(text),
  unfolds: (name) => page.locator('summary').filter({ hasText: name }).click(),
  reads: (text) => page.getByText(text).first().waitFor(),
  sees: (heading) => page.getByRole('heading', { name: heading }).first().waitFor(),
  // The second half of a double click decides nothing; people look before they decide.
  looks: () => page.waitForTimeout(700),
};
// Below the heading of that name in the list: its first row, by the words on it.
const firstBelow = (heading) => page.locator('section').filter({ hasText: heading })
  .locator('h2', { hasText: heading }).locator('xpath=following-sibling::ol[1]').getByRole('link').first();
const waiting = async () => Number(/(\d+) waits?/.exec(await page.getByRole('heading', { name: /Inbox/ }).innerText())[1]);
const decided = async (before) => {
  await seat.sees(/Inbox/);
  await page.getByRole('heading', { name: `Inbox ${before - 1} wait` }).waitFor();
};

// What waits is called so, and the first row is what is most pressing.
await seat.follows('Inbox');
const all = await waiting();
await firstBelow('Actions').click();
await seat.sees('Why you are asked');
await seat.sees('Exactly what will run');
await seat.looks();
await seat.presses(/Approve once/);
await decided(all);

// To reject takes a reason: the browser itself asks for it.
await firstBelow('Actions').click();
await seat.sees('Decide');
await seat.presses(/^Reject/);
await seat.sees('Decide');
await seat.writes('Why you reject it (the agent reads it)', 'not this one', page.locator('form').filter({ has: page.getByRole('button', { name: /^Reject/ }) }));
await seat.looks();
await seat.presses(/^Reject/);
await decided(all - 1);

// To change: the words are unfolded, one argument is taken out, and what comes of it is shown.
await firstBelow('Actions').click();
await seat.sees('Decide');
await seat.unfolds('Change and approve');
const change = page.locator('form').filter({ has: page.getByRole('button', { name: 'Change and approve' }) });
await seat.writes('Arguments, one on each line', '-sn', change);
await seat.writes('Reason (the agent reads it)', 'versions are not needed', change);
await seat.looks();
await seat.presses('Change and approve', change);
await seat.reads('What a reviewer made of the agent');
await seat.sees(/nmap -sn/);
await shot(page, 'changed');

// To go back: what stands still is in the inbox, and it says what can be done.
await seat.follows('Inbox');
await firstBelow('Runs that stand still').click();
await seat.reads('It stands still until you decide');
await shot(page, 'checkpoint');
await seat.follows('Go back…');
await seat.sees(/Go back to snapshot/);
await seat.sees('What would change');
await shot(page, 'rollback');
await seat.writes('Reason', 'the first section is wrong');
await seat.looks();
await seat.presses('Go back');
await seat.reads('ROLLED_BACK');

// To verify: the ledger is a page, its entries are links, and each says whether it is proven.
await seat.follows('Ledger');
await page.getByRole('region', { name: 'Entries' }).getByRole('link').first().click();
await seat.sees('Proof');
await seat.reads('verified by this server');
await shot(page, 'verified');
assert.deepEqual(page.complaints, []);
await finish();
