// Every decision about an action, by its form: with a script, and without one.
import { assert, enter, finish, given, lookEveryWay, refused, screen, send } from './browser.mjs';

async function decides(page, of, looks, hasKeys) {
  const button = (name) => page.getByRole('button', { name });
  const open = (action) => page.goto(`${given.url}/actions/${action}`);
  const is = (state) => page.locator('header .status', { hasText: state }).first().waitFor();
  const again = async (action, state) => { await open(action); await is(state); };

  await open(of.approve);
  await send(page, button(/Approve once/));
  await again(of.approve, 'APPROVED');

  // Where two people are asked, a yes takes the tool's name; one of two is not enough.
  await open(of.two);
  await page.locator('form').filter({ has: button(/Approve once/) }).getByLabel(/type the tool's name/).fill('nmap');
  await send(page, button(/Approve once/));
  await open(of.two);
  await page.getByText('1 of 2').first().waitFor();

  // Somebody is asked to look, and it is set aside for a while: nothing is decided by either.
  const attention = page.locator('summary', { hasText: 'Who looks at it, and when' });
  await open(of.reject);
  await attention.click();
  await page.getByLabel('Who should look at it').selectOption({ index: 1 });
  await page.getByLabel(/What they should know/).fill('you know this host');
  await send(page, button('Ask them'));
  await page.locator('#attention-told', { hasText: 'you know this host' }).waitFor();
  await attention.click();
  await looks('attention');
  await page.getByLabel('For how many minutes').fill('90');
  await send(page, button('Set aside for me'));
  await page.goto(`${given.url}/?part=aside`);
  await page.locator(`a.row[href*="action=${of.reject}"]`, { hasText: 'you set it aside until' }).waitFor();
  await looks('aside');
  // A phone shows the list or the card, and the rest of this walk needs both.
  await page.setViewportSize({ width: 1280, height: 900 });
  await open(of.reject);
  await attention.click();
  await send(page, button('Bring it back'));

  await open(of.reject);
  await page.locator('form#reject').getByLabel(/^Why you reject it/).fill('not this one');
  await send(page, button(/^Reject/));
  await again(of.reject, 'REJECTED');

  await open(of.amend);
  await page.locator('summary', { hasText: 'Change and approve' }).click();
  await page.getByLabel('Arguments, one on each line').fill('-sn');
  await page.getByLabel('Time limit, seconds').fill('30');
  await page.locator('form#amend').getByLabel(/^Reason/).fill('versions are not needed');
  await send(page, page.locator('form#amend').getByRole('button'));
  await page.getByText('What a reviewer made of the agent').waitFor();
  await again(of.amend, 'SUPERSEDED');

  // What is marked as seen is folded wherever it comes again; the mark is taken back where it was set. Nothing is decided by it.
  await open(of.rewrite);
  const notes = page.locator('details.file', { has: page.locator('summary', { hasText: 'notes.sh' }) });
  const isOpen = async () => await notes.getAttribute('open') !== null;
  const press = (name) => { const button = notes.getByRole('button', { name }); return hasKeys ? button.click() : send(page, button); };
  await press('Mark as seen');
  await page.getByText('1 of 2 files seen').waitFor();
  assert.equal(await isOpen(), false, 'what was seen is folded');
  await open(of.again);
  await page.getByText('1 of 1 files seen').waitFor();
  assert.equal(await isOpen(), false, 'also where it comes again');
  await page.locator('form#approve').waitFor();
  await looks('seen');
  await notes.locator('summary').click();
  await press('Not seen yet');
  await page.getByText('0 of 1 files seen').waitFor();
  assert.equal(await isOpen(), true, 'what is not seen any more is open');

  // All of a wish, the text of a file too. What is refused comes back with everything that was written, and is mended there.
  await open(of.rewrite);
  await page.locator('summary', { hasText: 'Change and approve' }).click();
  const amends = page.locator('form#amend');
  await amends.getByLabel('Environment, NAME=value on each line').fill('mode=slow');
  await amends.locator('summary', { hasText: 'mixed.txt' }).click();
  await amends.getByText('Its lines end in different ways').waitFor();
  await amends.locator('summary', { hasText: 'notes.sh' }).click();
  await amends.getByLabel('Text of notes.sh').fill('#!/bin/sh\necho one\necho zwei\n');
  await amends.getByLabel(/^Reason/).fill('in German');
  await looks('amending');
  await refused(page, amends.getByRole('button'), 422);
  await page.getByText('names are capitals, digits and').waitFor();
  await looks('amending-refused');
  assert.equal(await amends.getByLabel('Text of notes.sh').inputValue(), '#!/bin/sh\necho one\necho zwei\n');
  await amends.getByLabel('Environment, NAME=value on each line').fill('MODE=slow');
  await send(page, amends.getByRole('button'));
  await page.getByText('What a reviewer made of the agent').waitFor();
  await page.locator('#card .code', { hasText: 'echo zwei' }).first().waitFor();
  await page.locator('#card dl', { hasText: 'MODE=slow' }).first().waitFor();
  await looks('amended');
  await again(of.rewrite, 'SUPERSEDED');

  // More than a form takes: a script says so before anything is sent, and nothing is lost that was written.
  await open(of.order);
  await page.locator('summary', { hasText: 'Change and approve' }).click();
  await amends.getByLabel(/^Arguments/).fill('-sn '.repeat(300_000));
  await amends.getByLabel(/^Reason/).fill('everything');
  if (hasKeys) {
    await amends.getByRole('button').click();
    await page.getByText('This is more than a form takes').waitFor();
    assert.equal((await amends.getByLabel(/^Arguments/).inputValue()).length, 1_200_000);
  } else {
    await refused(page, amends.getByRole('button'), 413);
    await page.getByText('a form takes 1048576 bytes').waitFor();
  }

  // Identical ones at once, from the inbox.
  await page.goto(`${given.url}/?action=${of.twin}`);
  await page.getByText('+1 identical').first().waitFor();
  await send(page, button(/Approve all identical/));
  await again(of.twin, 'APPROVED');

  // An order with the decision; it lets the next one of its kind pass, and is taken back where all of them stand.
  await open(of.order);
  await page.locator('summary', { hasText: 'Approve this and its like' }).click();
  await page.getByLabel('For so many minutes').fill('30');
  await page.getByLabel('For so many more actions').fill('3');
  await page.getByRole('radio').first().check();
  await send(page, button('Approve with this order'));
  await page.locator('#just a', { hasText: 'you gave order' }).click();
  await page.getByText('STANDS', { exact: true }).first().waitFor();
  await page.getByRole('link', { name: 'Orders' }).first().click();
  await page.getByLabel('Reason').fill('enough');
  await send(page, button('Revoke'));
  await page.goto(`${given.url}/orders`);
  await page.getByText('No order stands.').waitFor();

  // What was only rehearsed is done when somebody says so: the inbox leads to the results, and those to it.
  await page.goto(`${given.url}/`);
  await page.locator('a.row', { hasText: 'Results to accept' }).first().click();
  await page.locator(`[aria-labelledby=rehearsed] a[href="/actions/${of.perform}"]`).click();
  await is('REHEARSED');
  await looks('rehearsed');
  await send(page, button('Have it done'));
  await again(of.perform, 'APPROVED');

  // Of what was interrupted nobody knows how far it got: a person decides.
  await page.goto(`${given.url}/`);
  await page.locator(`a.row[href*="action=${of.retry}"]`).click();
  await page.waitForURL(/action=/);
  await looks('interrupted');
  // The keys go to what is missing first, and then to their buttons.
  if (hasKeys) {
    await page.keyboard.press('a');
    await page.locator('form#resolve input[name=reason]:focus').waitFor();
  }
  await page.getByLabel('Reason').fill('it only sleeps');
  if (hasKeys) {
    await page.keyboard.press('Escape');
    await page.keyboard.press('r');
    await page.locator('button[value=abandon]:focus').waitFor();
    await page.keyboard.press('a');
    await page.locator('button[value=retry]:focus').waitFor();
  }
  await send(page, button('Run it again'));
  await again(of.retry, 'APPROVED');
  await page.goto(`${given.url}/?part=interrupted`);
  await page.locator(`a.row[href*="action=${of.abandon}"]`).click();
  await page.waitForURL(/action=/);
  await page.getByLabel('Reason').fill('not wanted any more');
  await send(page, button('Give it up'));
  await again(of.abandon, 'ABANDONED');
}

for (const [index, of] of given.of.entries()) {
  const page = await screen({ javaScriptEnabled: index === 0 });
  await enter(page, given.links[index]);
  await decides(page, of, async (name) => {
    if (index === 0) await lookEveryWay(page, name);
    await page.setViewportSize({ width: 1440, height: 960 });
  }, index === 0);
  // A browser says of each form that was refused that it was; nothing else is amiss.
  assert.deepEqual(page.complaints.filter((said) => !/status of (413|422)/.test(said)), []);
}
await finish();
