// Two people with passkeys, in a browser with an authenticator of its own: each adds one, signs in with it and signs an approval. One gives
// theirs up. What administrators do with passkeys is in doors.mjs.
import { assert, enter, finish, given, look, screen, shot } from './browser.mjs';

const at = (path) => given.url.replace('127.0.0.1', 'localhost') + path;
const named = (link) => link.replace('127.0.0.1', 'localhost');

// What the browser's own virtual authenticator answers with: a person who is there, and proves who they are or does not.
async function authenticator(page, isUserVerified = true) {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', { options: {
    protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified,
    automaticPresenceSimulation: true,
  } });
  return { verified: (isUserVerified) => session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }) };
}

async function addPasskey(page) {
  await page.getByLabel('What you call it').fill('blue key');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.locator('section li', { hasText: 'blue key' }).waitFor();
  await page.getByText('which signs that it is added').waitFor();
}

async function signIn(page) {
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL(at('/enter'));
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByRole('heading', { name: /Inbox/ }).waitFor();
}

async function approve(page) {
  await page.goto(at(`/actions/${given.action}`));
  await page.getByText('You sign this with your passkey.').waitFor();
  await page.locator('#confirm').fill('nmap');
  await page.getByRole('button', { name: /Approve once/ }).click();
}

for (const [index, link] of given.links.entries()) {
  // The first with the content policy in force, where nothing may complain; the second is looked at by axe.
  const page = await screen(index === 0 ? {} : { bypassCSP: true });
  const key = await authenticator(page);
  await enter(page, named(link));
  if (index === 0) await shot(page, 'passkeys-none');
  await addPasskey(page);
  await signIn(page);
  if (index === 0) {
    // Somebody else took the key: it is there, but cannot prove who holds it.
    await key.verified(false);
    await approve(page);
    await page.getByText('No passkey answered. Nothing was changed; try again.').waitFor();
    await key.verified(true);
    await shot(page, 'passkey-signs');
  } else {
    await page.goto(at(`/actions/${given.action}`));
    await page.getByText('signed with a passkey').waitFor();
    await look(page, 'a card that is signed');
    await page.goto(at('/settings'));
    await page.locator('form#add-passkey').waitFor();
    await look(page, 'settings with a passkey');
    await shot(page, 'passkeys');
  }
  await approve(page);
  await page.waitForURL(/just=/);
  assert.deepEqual(page.complaints, [], link);
  if (index === 1) {
    await page.goto(at('/settings'));
    await page.getByRole('button', { name: 'Remove' }).click();
    // Whoever came in by it is out.
    await page.waitForURL(at('/enter*'));
  }
  await page.context().close();
}
await finish();
