// Somebody who has never seen it decides, guided by nothing but the screen: approves, rejects with a reason, changes, goes back, verifies.
import { assert, enter, finish, given, screen, shot } from './browser.mjs';

const page = await screen();
await enter(page, given.links[0]);
// The second half of a double click decides nothing; neither does this walk.
const settled = () => page.waitForTimeout(700);
const button = (name) => page.getByRole('button', { name });
const open = (name) => page.getByRole('link', { name });

// Approves what asks for one person.
await open('Inbox').first().click();
await open(/nmap .*10\.0\.0\.5/).click();
await page.getByRole('heading', { name: /Why you are asked/ }).waitFor();
await button(/Approve once/).click();
await page.waitForURL(`${given.url}/`);
assert.equal(await open(/nmap .*10\.0\.0\.5/).count(), 0, 'what is decided waits no more');

// Rejects, and cannot without a reason.
await open(/nmap .*10\.0\.0\.6/).click();
await button(/^Reject/).click();
assert.match(page.url(), /action=/, 'a browser asks for the reason itself');
await page.getByLabel(/Reason \(the agent reads it\)/).first().fill('not this one');
await settled();
await button(/^Reject/).click();
await page.waitForURL(`${given.url}/`);

// Changes something and approves that.
await open(/nmap .*10\.0\.0\.7/).click();
await page.getByText('Change and approve').first().click();
await page.getByLabel(/Arguments, one on each line/).fill('-sn');
await page.locator('#amend-reason').fill('versions are not needed');
await settled();
await page.locator('form#amend button').click();
await page.waitForURL(/actions/);
await page.getByRole('heading', { name: /nmap -sn 10\.0\.0\.7/ }).waitFor();

// Goes back to what was saved.
await open('Runs').first().click();
await open('do what is asked').first().click();
await page.getByText('It stands still until you decide').waitFor();
await shot(page, 'checkpoint');
await open('Go back…').last().click();
await page.getByRole('heading', { name: /Go back to snapshot/ }).waitFor();
await page.getByRole('heading', { name: 'What would change' }).waitFor();
await shot(page, 'rollback');
await page.getByLabel('Reason').fill('the first section is wrong');
await settled();
await button('Go back').click();
await page.getByText('ROLLED_BACK').first().waitFor();

// Verifies an entry.
await open('Ledger').click();
await page.getByRole('link', { name: /^\d+$/ }).first().click();
await page.getByText('verified by this server').waitFor();
await shot(page, 'verified');
assert.deepEqual(page.complaints, []);
await finish();
