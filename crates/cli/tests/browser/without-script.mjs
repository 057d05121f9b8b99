// Everything is decided without a script as well.
import { assert, enter, finish, given, screen } from './browser.mjs';

const page = await screen({ javaScriptEnabled: false });
await enter(page, given.links[0]);
for (const [target, decide] of [
  ['10.0.0.5', async () => page.getByRole('button', { name: /Approve once/ }).click()],
  ['10.0.0.6', async () => {
    await page.locator('#reason').fill('no');
    await page.locator('form#reject button').click();
  }],
]) {
  await page.goto(`${given.url}/`);
  await page.getByRole('link', { name: new RegExp(target.replaceAll('.', '\\.')) }).click();
  await decide();
  await page.waitForURL(`${given.url}/`);
}
// A standing order, folded away below the decision, and the way to take it back.
await page.goto(`${given.url}/`);
await page.getByRole('link', { name: /10\.0\.0\.7/ }).click();
await page.locator('summary', { hasText: 'Approve this and its like' }).click();
await page.locator('#order-minutes').fill('30');
await page.locator('form#order button').click();
await page.getByText('STANDS').waitFor();
await page.goto(`${given.url}/orders`);
await page.locator('input[name=reason]').fill('enough');
await page.getByRole('button', { name: 'Revoke' }).click();
await page.getByText('No order stands.').waitFor();
await page.goto(`${given.url}/settings`);
await page.locator('#new-password').fill('a sentence that is long enough');
await page.locator('form#set-password button').click();
await page.getByRole('button', { name: 'Sign out' }).click();
await page.locator('#name').fill(given.name);
await page.locator('#password').fill('a sentence that is long enough');
await page.getByRole('button', { name: 'Sign in' }).click();
await page.getByRole('heading', { name: /Inbox/ }).waitFor();
assert.equal(new URL(page.url()).pathname, '/');
await finish();
