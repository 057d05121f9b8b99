// Every page, light, dark, on a phone and in French: nobody is kept out, nothing complains, and each is kept as a picture.
import { assert, enter, finish, given, look, screen, shot } from './browser.mjs';

const paths = {
  inbox: '/', action: `/actions/${given.action}`, runs: '/runs', run: `/runs/${given.run}`,
  orders: '/orders', decisions: '/decisions', me: '/me', agents: '/agents', workers: '/workers', policy: '/policy', ledger: '/ledger', entry: '/ledger/3',
  settings: '/settings', help: '/help', nowhere: '/runs/run_00000000000000000000000000000000',
};
const screens = [
  ['light', { colorScheme: 'light' }],
  ['dark', { colorScheme: 'dark' }],
  ['phone', { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }],
  ['french', { locale: 'fr-FR', colorScheme: 'light' }],
];

const outside = await screen({ bypassCSP: true });
await outside.goto(`${given.url}/`);
assert.match(outside.url(), /\/enter$/, 'who has no visit is asked to sign in');
await look(outside, 'sign in');
await shot(outside, 'enter');

for (const [index, [name, options]] of screens.entries()) {
  // With the content policy in force nothing may complain; axe is put in where it is not.
  const strict = await screen(options);
  await enter(strict, given.links[2 * index]);
  const open = await screen({ ...options, bypassCSP: true });
  await enter(open, given.links[2 * index + 1]);
  for (const [page, path] of Object.entries(paths)) {
    const answer = await strict.goto(given.url + path);
    assert.equal(answer.status(), page === 'nowhere' ? 404 : 200, `${page} (${name})`);
    await shot(strict, `${page}-${name}`);
    await open.goto(given.url + path);
    await look(open, `${page} (${name})`);
    const wider = await open.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(wider <= 1, `${page} (${name}) is ${wider} pixels wider than the screen`);
    if (page === 'action') {
      // What is folded away is for everybody too.
      for (const summary of await open.locator('.decide summary').all()) await summary.click();
      await look(open, `decision, unfolded (${name})`);
      await shot(open, `decision-${name}`);
    }
  }
  const grave = strict.complaints.filter((text) => !text.includes('404'));
  assert.deepEqual(grave, [], name);
  await strict.context().close();
  await open.context().close();
}
await finish();
