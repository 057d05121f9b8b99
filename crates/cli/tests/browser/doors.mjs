// Doors of somebody who has passkeys: a second one is signed with the first, one is given up, and an administrator signs what lets in again.
import { assert, enter, finish, given, look, screen, shot } from './browser.mjs';

const named = (link) => link.replace('127.0.0.1', 'localhost');
const at = (path) => named(given.url) + path;

// One key beside another, each touched or not.
async function key(session, transport) {
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', { options: {
    protocol: 'ctap2', transport, hasResidentKey: true, hasUserVerification: true, isUserVerified: true,
    automaticPresenceSimulation: true,
  } });
  return { touched: (enabled) => session.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled }) };
}

async function keys(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  return session;
}

async function add(page, name) {
  await page.getByLabel('What you call it').fill(name);
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.locator('section li', { hasText: name }).waitFor();
}

const eve = await screen();
const session = await keys(eve);
const phone = await key(session, 'internal');
await enter(eve, named(given.eve));
await add(eve, 'phone');

// Another one: the stick is touched to become one, the phone to sign that it does.
const stick = await key(session, 'usb');
await phone.touched(false);
await eve.route('**/settings/doors/question?change=add**', async (route) => {
  await stick.touched(false);
  await phone.touched(true);
  await route.continue();
});
await eve.getByText('Your browser asks twice').waitFor();
await add(eve, 'stick');
assert.equal(await eve.locator('section li', { hasText: 'phone' }).count(), 1, 'both are there');
await shot(eve, 'doors-two-passkeys');

// A password is signed too.
await eve.locator('#new-password').fill('a sentence nobody guesses');
await eve.getByRole('button', { name: 'Set password' }).click();
await eve.locator('#current-password').waitFor();

// The phone is given up.
await eve.locator('section li', { hasText: 'phone' }).getByRole('button', { name: 'Remove' }).click();
await eve.locator('section li', { hasText: 'phone' }).waitFor({ state: 'detached' });
assert.equal(await eve.locator('section li', { hasText: 'stick' }).count(), 1);
assert.deepEqual(eve.complaints, []);

// Somebody else has one too.
const gus = await screen();
await key(await keys(gus), 'internal');
await enter(gus, named(given.gus));
await add(gus, 'watch');

// An administrator without a passkey is offered nothing, and is told what to do.
const root = await screen({ bypassCSP: true });
const roots = await keys(root);
await key(roots, 'internal');
await enter(root, named(given.admin));
const row = root.locator('tr', { hasText: 'eve' });
await row.getByText('has passkeys').waitFor();
assert.equal(await row.getByRole('button').count(), 0);
await root.getByText('placet identity end-passkeys').first().waitFor();
await look(root, 'settings of an administrator without a passkey');
await shot(root, 'doors-administrator-without');

// With one, a link and a removal are signed.
await add(root, 'safe');
await row.getByRole('button', { name: 'New token' }).waitFor();
await look(root, 'settings of an administrator with a passkey');
await shot(root, 'doors-administrator');
await row.getByRole('button', { name: 'Make a one-time link' }).click();
await root.getByRole('status').getByText('/enter/idn_').waitFor();
await root.goto(at('/settings'));
const lost = root.locator('section li', { hasText: 'stick' });
await lost.getByRole('button', { name: 'Remove' }).click();
await lost.waitFor({ state: 'detached' });
// A new token, which ends the passkeys of whoever gets it.
await root.locator('tr', { hasText: 'gus' }).getByRole('button', { name: 'New token' }).click();
await root.getByRole('status').getByText('plc_').waitFor();
assert.equal(await root.locator('section li', { hasText: 'watch' }).count(), 0);
assert.deepEqual(root.complaints, []);
await finish();
