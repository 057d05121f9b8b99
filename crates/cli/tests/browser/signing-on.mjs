// Signs on by a real provider: out to it, a name, consent, and back; and somebody whom nobody here knows is not let in.
import { assert, finish, given, look, screen, shot } from './browser.mjs';

// Whoever wanted a page is led to it afterwards.
async function signOn(page, name, wanted = '/') {
  await page.goto(given.url + wanted);
  await page.getByRole('link', { name: 'Sign in with Example' }).click();
  await page.waitForURL((url) => url.origin === given.issuer);
  await page.locator('input[name=login]').fill(name);
  await page.locator('input[name=password]').fill('whatever it takes');
  await page.locator('button[type=submit]').click();
  await page.locator('button[type=submit]', { hasText: 'Continue' }).click();
  await page.waitForURL((url) => url.origin === given.url);
}

const outside = await screen({ bypassCSP: true });
await outside.goto(`${given.url}/enter`);
await look(outside, 'sign in with a provider');
await shot(outside, 'enter-with-provider');

const known = await screen();
await signOn(known, 'ada');
await known.getByRole('heading', { name: /Inbox/ }).waitFor();
assert.match(await known.locator('.who').innerText(), /eve/, 'as whom the settings name');

const led = await screen();
await signOn(led, 'ada', '/help');
await led.waitForURL(`${given.url}/help`);

const unknown = await screen();
await signOn(unknown, 'mallory');
await unknown.getByText('The provider did not let you in').waitFor();
assert.equal(await unknown.getByRole('heading', { name: /Inbox/ }).count(), 0);
await finish();
