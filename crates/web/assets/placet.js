// What a page does beyond being read: keys, and staying up to date. Everything works without it.
'use strict';

const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const isTyping = () => document.activeElement?.matches('input:not([type=radio]):not([type=checkbox]), textarea, select') ?? false;

// Where the way to other pages is wider than the screen, the page that is shown is in view there.
document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });

// What is looked at is in view in its list too, and the keys go on from there.
const current = document.querySelector('a.row[aria-current]');
current?.scrollIntoView({ block: 'nearest' });
if (current && location.search.includes('action=') && !document.activeElement?.matches('[autofocus]')) current.focus({ preventScroll: true });

// ---- keys

const rows = () => all('a.row');

function move(by) {
  const list = rows();
  if (!list.length) return;
  const focused = list.indexOf(document.activeElement);
  const at = focused < 0 ? list.findIndex((row) => row.hasAttribute('aria-current')) : focused;
  const next = list[Math.max(0, Math.min(list.length - 1, at < 0 ? 0 : at + by))];
  next.focus();
  if (location.pathname === '/' && next.search.includes('action=')) next.click();
}

// The first key brings the button into view and focus, the second one presses it: nobody approves by a slip.
// A form has one button, or one for each key. What has to be filled in comes before.
function press(form, key) {
  if (!form) return;
  const empty = all('input[required]', form).find((field) => !field.value);
  const button = form.querySelector(`button[data-key=${key}]`) ?? form.querySelector('button');
  const next = empty ?? button;
  if (document.activeElement === button && !empty) return form.requestSubmit(button);
  next.scrollIntoView({ block: 'center' });
  next.focus();
}

// A card that is folded leads to the whole first.
function approve() {
  const form = document.querySelector('form#approve, form#complete, form#perform, form#resolve');
  return form ? press(form, 'a') : document.querySelector('a#whole')?.focus();
}

const reject = () => press(document.querySelector('form#reject, form#resolve'), 'r');

// Whoever has changed something wants that and not what was proposed: the yes to it waits until the change is sent or taken back.
function holdBack() {
  const changed = all('form#amend input:not([type=hidden]), form#amend textarea, form#amend select').some(isWritten);
  all('button[data-unsent]').forEach((button) => button.setCustomValidity(changed ? button.dataset.unsent : ''));
}
document.addEventListener('input', (event) => { if (event.target.closest('form#amend')) holdBack(); });

// The other keys only show where something is said, unfolded and in focus. Where it is not offered they do nothing; a card that is folded
// leads to the whole here too.
function show(selector) {
  const part = document.querySelector(selector) ?? document.querySelector('a#whole');
  if (!part) return;
  for (let folded = part.closest('details'); folded; folded = folded.parentElement.closest('details')) folded.open = true;
  part.scrollIntoView({ block: 'center' });
  part.focus();
}

// From one file to the next, and from the last to the first.
function files() {
  const summaries = all('details.file > summary');
  const next = summaries[(summaries.indexOf(document.activeElement) + 1) % summaries.length];
  if (!next) return;
  next.scrollIntoView({ block: 'start' });
  next.focus();
}

const keys = {
  j: () => move(1),
  k: () => move(-1),
  a: approve,
  r: reject,
  e: () => show('form#amend textarea, form#amend input:not([type=hidden])'),
  s: () => show('form#order input:checked, form#order input:not([type=hidden])'),
  x: () => {
    // Whose they are is seen before they are approved.
    all('.together details').forEach((list) => { list.open = true; });
    show('form#approve-all button');
  },
  w: () => show('#assign-to'),
  l: () => show('#defer-minutes'),
  d: files,
  g: () => location.assign('/'),
  '?': () => location.assign('/help'),
  '/': () => document.querySelector('form.find input:not([hidden])')?.focus(),
};

document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && isTyping()) return document.activeElement.blur();
  // A key that is held down is one stroke.
  if (event.repeat || isTyping() || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});

// What is longer than what is read of a form is not sent, so that nothing that was written is lost.
const weight = (form) => new URLSearchParams(new FormData(form)).toString().replaceAll('%0D', '').replaceAll('%0A', '%0D%0A').length;
function isTooLong(form) {
  if (!form.dataset.most || weight(form) <= Number(form.dataset.most)) return false;
  const notice = form.querySelector('.too-long') ?? document.createElement('p');
  notice.className = 'note bad too-long';
  notice.setAttribute('role', 'alert');
  notice.textContent = form.dataset.tooLong;
  form.append(notice);
  return true;
}

// A decision is sent once, and the second half of a double click does not decide what came into its place.
const born = performance.now();
const isJustDecided = Date.now() - Number(sessionStorage.getItem('decided') ?? 0) < 2000;
document.addEventListener('submit', (event) => {
  const decides = event.target.closest('.decide, .decides') !== null;
  const isSlip = decides && isJustDecided && performance.now() - born < 500;
  if (isSlip || event.target.dataset.sent || isTooLong(event.target)) return event.preventDefault();
  event.target.dataset.sent = 'yes';
  if (decides) sessionStorage.setItem('decided', String(Date.now()));
});
// A mark is set without leaving the page: what is marked is folded, and the rest of the page is told by itself.
async function sendInPlace(form) {
  const files = all('details.file');
  const at = files.indexOf(form.closest('details'));
  const answer = await fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)), redirect: 'manual' });
  if (answer.type !== 'opaqueredirect') return form.submit();
  if (at >= 0) files[at].open = new FormData(form).get('seen-file') === 'no';
  await refresh();
  if (form.isConnected) turn(form);
  all('details.file')[at]?.querySelector('summary')?.focus();
}
// Where somebody writes, the page was left alone: the button that was pressed takes back from here on.
function turn(form) {
  const [button, wanted] = [form.querySelector('button'), form.elements['seen-file']];
  [button.textContent, button.dataset.other] = [button.dataset.other, button.textContent];
  wanted.value = wanted.value === 'yes' ? 'no' : 'yes';
  delete form.dataset.sent;
}
document.addEventListener('submit', (event) => {
  if (!event.target.dataset.inPlace || event.defaultPrevented) return;
  event.preventDefault();
  sendInPlace(event.target).catch(() => event.target.submit());
});

addEventListener('pageshow', () => all('form').forEach((form) => delete form.dataset.sent));

// ---- staying up to date: told that something happened, the page is asked for again, and the parts that differ are put in place

const policy = globalThis.trustedTypes?.createPolicy('placet', { createHTML: (text) => text });
const parse = (text) => new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, 'text/html');

// What somebody is reading, writing in or has opened is left alone until they are done with it.
const isChosen = (list) => list.selectedIndex !== Math.max(0, [...list.options].findIndex((option) => option.defaultSelected));
function isWritten(field) {
  if (field.tagName === 'SELECT') return isChosen(field);
  return /^(checkbox|radio)$/.test(field.type) ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
}
const isInUse = (part) => (part.contains(document.activeElement) && isTyping())
  || all('input:not([type=hidden]), textarea, select', part).some(isWritten);

// What a form would decide on besides what the part is named by stays what was shown, or goes: it is neither exchanged nor put there under
// somebody's hand.
function keepBound(part, fresh) {
  const shown = part.querySelector('[data-bound]');
  for (const other of all('[data-bound]', fresh)) shown ? other.replaceWith(shown.cloneNode(true)) : other.remove();
}

// Whether the part is as it should be.
function replace(part, fresh) {
  keepBound(part, fresh);
  if (part.innerHTML === fresh.innerHTML) return true;
  if (isInUse(part)) return false;
  const focused = part.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
  const open = all('details', part).map((details) => details.open);
  part.replaceChildren(...fresh.childNodes);
  all('details', part).forEach((details, index) => { if (index in open) details.open = open[index]; });
  if (focused) all('a', part).find((link) => link.getAttribute('href') === focused)?.focus();
  return true;
}

// A page that shows one moment looks elsewhere for what stands around it.
const elsewhere = document.body.dataset.liveFrom;

async function look(address) {
  const answer = await fetch(address, { headers: { accept: 'text/html' }, redirect: 'error' });
  if (!answer.ok) throw new Error(answer.status);
  return parse(await answer.text());
}

async function refresh() {
  const fresh = await look(elsewhere ?? location.href);
  let isWhole = true;
  for (const part of all('[data-live]')) {
    const other = fresh.querySelector(`[data-live="${part.dataset.live}"]`);
    if (other && !replace(part, other)) { isWhole = false; tellMeanwhile(part, other); }
    // The list looks at something else by now; what stands here has a page of its own.
    if (!other && part.dataset.at && !isTold(part)) await look(part.dataset.at).then((page) => tellMeanwhile(part, page), () => {});
  }
  // What was left alone is looked at again when the stream is opened again.
  if (isWhole) document.body.dataset.liveSince = fresh.body.dataset.liveSince;
  if (elsewhere) return;
  document.title = fresh.title;
  tellIfOther(fresh);
}

// Where somebody writes nothing is exchanged; that another one has decided meanwhile is told above what they write.
const isTold = (part) => part.querySelector('[data-meanwhile]') !== null;
function tellMeanwhile(part, fresh) {
  const told = fresh.querySelector('[data-meanwhile]');
  const form = all('form', part).find(isInUse) ?? part.querySelector('.decide form');
  if (!told || !form || isTold(part)) return;
  const notice = told.cloneNode(true);
  notice.className = 'notice';
  notice.setAttribute('role', 'status');
  notice.prepend(`${told.dataset.meanwhile} `);
  form.before(notice);
}

// What is decided on is never exchanged under somebody's hand: that something else stands there now is told, with the way to it.
function tellIfOther(fresh) {
  const still = (within) => within.querySelector('[data-still]')?.dataset.still;
  if (still(document) === still(fresh) || document.querySelector('.other')) return;
  const notice = document.createElement('p');
  const link = document.createElement('a');
  notice.className = 'notice other';
  link.href = location.href;
  link.textContent = document.body.dataset.waits;
  notice.append(link);
  document.querySelector('main').prepend(notice);
}

// ---- what a program says: told that there is more, what comes after is asked for and put at the end. Whoever scrolled up or selects
// something stays where they are.

const log = document.querySelector('[data-log]');
// As many pieces as a page can hold without becoming slow; those that are not kept any more go from its beginning.
const MOST_PIECES = 2000;
// As many letters as are kept of a program twice over, and no more elements than marks and tabs make of them in earnest.
const MOST_LETTERS = 128 * 1024;
const MOST_ELEMENTS = 20_000;
const isSelecting = (part) => !getSelection().isCollapsed && part.contains(getSelection().anchorNode);

async function listen() {
  const fresh = await look(`${log.dataset.log}?after=${log.dataset.logNext}`);
  const [said, more] = [log.querySelector('pre'), fresh.querySelector('[data-log-next]')];
  const isAtEnd = said.scrollTop + said.clientHeight >= said.scrollHeight - 8;
  log.dataset.logNext = more.dataset.logNext;
  if (more.childNodes.length) log.hidden = false;
  said.append(...more.childNodes);
  log.querySelector('.log-state').replaceChildren(...fresh.querySelector('.log-state').childNodes);
  const isStill = isAtEnd && !isSelecting(said);
  while (said.childNodes.length > (isStill ? MOST_PIECES : 4 * MOST_PIECES)) said.firstChild.remove();
  let [letters, elements] = [said.textContent.length, said.getElementsByTagName('*').length];
  while (said.childNodes.length > 1 && (letters > MOST_LETTERS || elements > MOST_ELEMENTS)) {
    letters -= said.firstChild.textContent.length;
    elements -= 1 + (said.firstChild.getElementsByTagName?.('*').length ?? 0);
    said.firstChild.remove();
  }
  if (isStill) said.scrollTop = said.scrollHeight;
}

let listening = false;
let heard = false;
let unheard = 0;

// Once a second at most; what could not be fetched is asked for again, ever less often.
async function listenSoon() {
  if (listening) { heard = true; return; }
  listening = true;
  try { await listen(); unheard = 0; } catch { unheard = Math.min(unheard + 1, 6); heard = !document.hidden; }
  await new Promise((resolve) => setTimeout(resolve, 1000 * 2 ** unheard));
  listening = false;
  if (heard) { heard = false; listenSoon(); }
}

if (log) log.querySelector('pre').scrollTop = log.querySelector('pre').scrollHeight;

let waiting = false;
let again = false;
let missed = 0;

// At most one look at a time, and not more than two a second, however much happens. News are told once: a look that failed is repeated, ever
// less often; of a page that nobody sees the stream tells again when it is opened.
async function soon() {
  if (waiting) { again = true; return; }
  waiting = true;
  try { await refresh(); missed = 0; } catch { missed = Math.min(missed + 1, 7); again = !document.hidden; }
  await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** missed));
  waiting = false;
  if (again) { again = false; soon(); }
}

// Browsers open six connections to a place and no more: only pages that somebody sees take one. The stream is told how far the page is,
// and says at once if something happened since: before it was opened, while it was lost, or while nobody looked.
let source = null;
let tries = 0;
let later = null;

function follow() {
  const { liveOf: of, liveSince: since } = document.body.dataset;
  const sign = document.getElementById('live');
  const spoken = log ? { log: log.dataset.logOf } : {};
  source = new EventSource(`/live?${new URLSearchParams({ of, since, ...spoken })}`);
  source.onopen = () => {
    tries = 0;
    // What was said while nobody followed.
    if (log) listenSoon();
    sign.hidden = false;
    sign.classList.remove('off');
    sign.removeAttribute('title');
  };
  source.onerror = () => {
    sign.classList.add('off');
    sign.title = document.body.dataset.offline;
    followLater();
  };
  source.addEventListener('news', soon);
  source.addEventListener('log', listenSoon);
}

function unfollow() {
  clearTimeout(later);
  source?.close();
  source = null;
}

// A browser gives a stream up for good that was answered with anything but a stream, by a proxy while Placet restarts. It is asked for
// again until it is there, ever less often, and not by everybody at the same moment.
function followLater() {
  unfollow();
  const pause = Math.min(60, 2 ** (tries + 1)) * (0.5 + Math.random());
  tries += 1;
  later = setTimeout(followWhileSeen, pause * 1000);
}

function followWhileSeen() {
  if (document.hidden) return unfollow();
  if (source) return;
  clearTimeout(later);
  follow();
}

if (document.body.dataset.liveOf) {
  document.addEventListener('visibilitychange', followWhileSeen);
  followWhileSeen();
}
