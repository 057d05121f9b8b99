// Comes by a proxy that speaks TLS, under the name that the settings say: in, a decision, news, and out. The proxy passes on bytes and
// knows nothing of pages.
import net from 'node:net';
import tls from 'node:tls';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, enter, finish, given, isLive, meanwhile, screen, send } from './browser.mjs';

const { hostname, port } = new URL(given.url);
const dir = mkdtempSync(join(tmpdir(), 'placet-proxy-'));
const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(dir, name));
execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2',
  '-keyout', key, '-out', cert, '-subj', `/CN=${hostname}`], { stdio: 'pipe' });
const open = new Set();
let isBroken = false;
const proxy = tls.createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (secure) => {
  open.add(secure.on('close', () => open.delete(secure)));
  if (isBroken) return secure.on('error', () => {}).end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
  const plain = net.connect(new URL(given.behind).port, '127.0.0.1');
  secure.pipe(plain).pipe(secure);
  for (const end of [secure, plain]) end.on('error', () => [secure, plain].forEach((other) => other.destroy()));
});
await new Promise((listening) => proxy.listen(port, '127.0.0.1', listening));

const page = await screen({ ignoreHTTPSErrors: true });
assert.ok(given.links[0].startsWith(`${given.url}/enter/`), `a link leads there: ${given.links[0]}`);
await enter(page, given.links[0]);
assert.equal(new URL(page.url()).origin, given.url);
const visit = (await page.context().cookies()).find(({ name }) => name === '__Host-placet_visit');
assert.ok(visit, 'the visit is a cookie that no neighbour can set');
assert.deepEqual([visit.secure, visit.httpOnly, visit.sameSite], [true, true, 'Lax']);

await page.goto(given.url);
await isLive(page);
await page.locator('main').getByRole('link', { name: /nmap/ }).first().click();
await send(page, page.getByRole('button', { name: /Approve once/ }));
await page.getByRole('heading', { name: /Inbox/ }).waitFor();

// The proxy finds nothing behind it for a while, and something happens meanwhile: the page is told once there is somebody again.
await page.goto(given.url);
await isLive(page);
isBroken = true;
// A stream is asked for again ever less often: on a busy machine a few tries take their time.
const patience = { timeout: 90_000 };
const refused = page.waitForResponse((answer) => answer.url().includes('/live') && answer.status() === 502, patience);
for (const secure of open) secure.destroy();
await refused;
meanwhile(given.propose);
isBroken = false;
await page.getByRole('link', { name: /10\.0\.0\.9/ }).first().waitFor(patience);

// The stream stays and the page itself is refused for a while: it is looked at again, without more news.
await page.goto(given.url);
await isLive(page);
let refusals = 0;
const isLook = (url) => url.pathname === '/';
await page.route(isLook, (route) => (refusals++ < 2 ? route.fulfill({ status: 503, body: '' }) : route.continue()));
meanwhile(given.proposeMore);
await page.getByRole('link', { name: /10\.0\.0\.8/ }).first().waitFor();
assert.equal(refusals, 3);
await page.unroute(isLook);

// The language leads back to where it was chosen, also under this name.
await page.goto(`${given.url}/runs`);
await page.getByRole('link', { name: 'Français' }).click();
await page.waitForURL(`${given.url}/runs`);

// The same cookie does not go over anything else.
const plain = await page.context().newPage();
await plain.goto(given.behind);
await plain.waitForURL('**/enter');

await page.goto(given.url);
await send(page, page.getByRole('button', { name: /Sortir|Quitter|Sign out|déconnecter/i }));
await page.waitForURL('**/enter');
await finish();
proxy.close();
process.exit(0);
