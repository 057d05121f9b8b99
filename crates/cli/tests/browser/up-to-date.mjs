// Pages that are open while others decide elsewhere: what they show changes with it, and nobody reloads. What somebody writes stays.
import { ask, assert, enter, field, finish, given, isLive, meanwhile, screen } from './browser.mjs';

const first = await screen();
await enter(first, given.links[0]);
const tab = async (path) => {
  const page = await first.context().newPage();
  await page.goto(given.url + path);
  await isLive(page);
  return page;
};
const by = (name, ...args) => meanwhile([given.binary, '--as', name, ...args]);

// Identical ones, while somebody looks at one of them: what they would approve together is what they were shown, however many come. The
// list says how many there are.
const chosen = await tab(`/?action=${given.twins[0]}`);
const together = chosen.getByRole('button', { name: /identical/ });
assert.match(await together.innerText(), /^Approve all identical \(2\)/);
by('tom', 'action', 'propose', given.run, 'nmap', '--target', '10.0.0.77', '--', '-sV', '-Pn');
await chosen.getByText('+2 identical').first().waitFor();
assert.match(await together.innerText(), /^Approve all identical \(2\)/);
assert.equal(await chosen.locator('#approve-all input[name=item]').count(), 2);
// What another one decides about the one that is looked at is told, and then there is nothing to decide together.
by('ada', 'reject', given.twins[0], '--reason', 'once is enough');
await chosen.getByText('REJECTED', { exact: true }).first().waitFor();
assert.equal(await together.count(), 0);
await chosen.close();

// While somebody writes why they say no, another one decides: it is told above what they write, and what they write stays.
const written = await tab(`/?action=${given.twins[1]}`);
const why = written.locator('form#reject').getByLabel(/^Why you reject it/);
await why.fill('because of the ');
by('ada', 'approve', given.twins[1], '--yes');
await written.locator('.decide [role=status]', { hasText: 'Decided meanwhile' }).waitFor();
await written.locator('.decide [role=status]', { hasText: 'action.approved' }).waitFor();
assert.equal(await why.inputValue(), 'because of the ');
await written.close();

// Also where the inbox looks at what comes next by then, because nobody had chosen anything.
by('tom', 'action', 'propose', given.run, 'nmap', '--target', '10.0.0.0/24', '--', '-sn');
const top = await tab('/');
const widest = (await top.locator('form#reject').getAttribute('action')).split('/')[2];
await field(top, /^Why you reject it/).fill('too many of ');
by('ada', 'reject', widest, '--reason', 'one at a time');
await top.locator('.decide [role=status]', { hasText: 'action.rejected' }).waitFor();
assert.equal(await field(top, /^Why you reject it/).inputValue(), 'too many of ');
await top.close();

const [orders, run, agents, help] =
  [await tab('/orders'), await tab(`/runs/${given.run}`), await tab('/agents'), await tab('/help')];
await orders.getByText('No order stands.').waitFor();
assert.equal(await run.getByRole('heading', { name: 'Standing orders' }).count(), 0);

// Somebody gives an order: it stands on the page of all, and on that of its run.
by('ada', 'order', 'give', given.actions[0], '--yes', '--until', '2h');
await orders.getByText('STANDS', { exact: true }).waitFor();
await run.getByRole('heading', { name: 'Standing orders' }).waitFor();

// Another one, while somebody writes why they take the first one back: what they write stays.
await field(orders, 'Reason').fill('because of the ');
by('ada', 'order', 'give', given.actions[1], '--yes', '--until', '2h');
await run.getByText('STANDS', { exact: true }).nth(1).waitFor();
assert.equal(await field(orders, 'Reason').first().inputValue(), 'because of the ');

// How many wait stands around every page.
const waiting = Number(await help.locator('#waiting').innerText());
by('tom', 'action', 'propose', given.run, 'nmap', '--target', '10.0.0.9', '--', '-sV');
await help.locator('#waiting', { hasText: String(waiting + 1) }).waitFor();

// A page that nobody sees follows nothing, and catches up when somebody looks at it again.
const seen = (page, is) => ask(page, `Object.defineProperty(document, 'hidden', { value: ${!is}, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'))`);
await seen(help, false);
by('tom', 'action', 'propose', given.run, 'nmap', '--target', '10.0.0.10', '--', '-sV');
await orders.locator('#waiting', { hasText: String(waiting + 2) }).waitFor();
assert.equal(await help.locator('#waiting').innerText(), String(waiting + 1));
await seen(help, true);
await help.locator('#waiting', { hasText: String(waiting + 2) }).waitFor();

by('ada', 'run', 'pause', given.run, '--reason', 'to look closer');
await agents.locator('.status', { hasText: 'PAUSED' }).waitFor();
await run.locator('h1 .status', { hasText: 'PAUSED' }).waitFor();
await agents.close();
const ledger = await tab('/ledger');
by('ada', 'run', 'resume', given.run);
await ledger.getByText('run.resumed').waitFor();
await run.locator('h1 .status', { hasText: 'EXECUTING' }).waitFor();

// What concerns everybody is told on every page, whatever it shows: that only what looks goes on, and that nothing does.
by('ada', 'safe-mode', 'on', '--reason', 'to be careful');
for (const page of [orders, run, help, ledger]) await page.getByText('Safe mode').waitFor();
by('ada', 'kill', '--all', '--reason', 'something is wrong');
for (const page of [orders, run, help, ledger]) {
  await page.getByText('Everything is stopped').waitFor();
  assert.deepEqual(page.complaints ?? [], []);
}
assert.deepEqual(first.complaints, []);
await finish();
