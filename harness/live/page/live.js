// The page: hears frames, keeps what it has been told, draws. All text goes in as text, never as markup: environments wrote part of it.
import { createChart } from './chart.js';
import { createEnvMap } from './env-map.js';
import { bytes, count, duration, percent, short } from './format.js';

const MAX_NOTICES = 100;
const MAX_LEARNING_CHARTS = 24;
/** Silence after which the page says that what it shows is old. */
const SILENT_AFTER_MS = 5000;
const COME_BACK_MS = 5000;
const BAD = new Set(['env-failed', 'reset-failed', 'env-quarantined', 'worker-died', 'range-lost', 'learner-died']);

const at = (id) => document.getElementById(id);
function make(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className !== undefined) made.className = className;
  return made;
}

const state = { head: null, points: [], notices: new Map(), heardMs: 0, over: false };
const drawThroughput = createChart(at('throughput'), {
  title: 'Steps per second',
  series: [
    { name: 'sampled', tone: 1, read: (point) => point.sampling },
    { name: 'trained', tone: 2, read: (point) => point.training },
  ],
});
const drawFill = createChart(at('fill'), {
  title: 'Batch fill',
  most: 1,
  format: percent,
  series: [{ name: 'full', tone: 3, read: (point) => point.fill }],
});
const drawMap = createEnvMap({ canvas: at('map'), legend: at('map-legend'), said: at('map-said'), trouble: at('map-trouble') });
let learning = [];

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function showLink(kind, text) {
  at('link').dataset.state = kind;
  setText(at('link'), text);
}

const PHASES = {
  starting: () => 'Starting workers and learner',
  growing: (status) => `Growing to ${count(status.envs)} envs`,
  measuring: (status) => `Measuring ${count(status.envs)} envs`,
  stopping: () => 'Stopping: checkpoint and drain',
  done: () => 'Done',
};

function shareOf(tier, status) {
  if (status.phase === 'stopping' || status.phase === 'done' || tier < status.tier) return 1;
  if (tier > status.tier) return 0;
  if (status.phase === 'measuring') return status.plannedSeconds > 0 ? status.tierSeconds / status.plannedSeconds : 0;
  return 0;
}

function tierText(tier, status, results) {
  const result = results.find((each) => each.tier === tier);
  if (result !== undefined) {
    const { all, met } = result.objectives;
    return `${result.verdict}, ${short(result.samplingSps)} steps/s${all === 0 ? '' : `, ${met} of ${all} objectives met`}`;
  }
  if (tier !== status.tier || status.phase === 'starting' || status.phase === 'done') return '';
  return status.phase === 'measuring'
    ? `${duration(Math.min(status.tierSeconds, status.plannedSeconds))} of ${duration(status.plannedSeconds)}`
    : `${count(status.live)} of ${count(status.envs)} live`;
}

function showTiers(status, results) {
  const list = at('tiers');
  const { tiers } = state.head;
  if (list.children.length !== tiers.length) {
    list.replaceChildren(
      ...tiers.map(({ label, envs }) => {
        const item = make('li');
        const progress = make('progress');
        progress.max = 1;
        progress.setAttribute('aria-label', `tier ${label}`);
        item.append(
          progress,
          make('span', label === count(envs) || label === String(envs) ? `${count(envs)} envs` : `${label}: ${count(envs)} envs`),
          make('small'),
        );
        return item;
      }),
    );
  }
  tiers.forEach((_, tier) => {
    const item = list.children[tier];
    item.querySelector('progress').value = Math.min(1, shareOf(tier, status));
    setText(item.querySelector('small'), tierText(tier, status, results));
    const result = results.find((each) => each.tier === tier);
    item.dataset.verdict = result?.verdict ?? '';
    item.dataset.objectives = result === undefined || result.objectives.met === result.objectives.all ? '' : 'missed';
    item.title =
      result === undefined ? '' : [...result.reasons, ...result.objectives.missed.map((missed) => `missed: ${missed}`)].join('\n');
    if (tier === status.tier && status.phase !== 'done') item.setAttribute('aria-current', 'step');
    else item.removeAttribute('aria-current');
  });
}

function showTiles(status) {
  const tiles = [
    ['envs live', count(status.live), false],
    ['quarantined', count(status.quarantined), status.quarantined > 0],
    ['worker restarts', count(status.restarts), status.restarts > 0],
    ['steps/s sampled', count(status.samplingSps), false],
    ['steps/s trained', count(status.trainingSps), false],
    ['batch fill', percent(status.batchFill), false],
    ['policy updates', count(status.updates), false],
    ['memory', status.memoryBytes > 0 ? bytes(status.memoryBytes) : 'measuring', false],
  ];
  const list = at('tiles');
  if (list.children.length === 0) {
    for (const [name] of tiles) {
      const item = make('li');
      item.append(make('b'), make('span', name));
      list.append(item);
    }
  }
  tiles.forEach(([, value, alarm], index) => {
    setText(list.children[index].firstChild, value);
    list.children[index].dataset.alarm = String(alarm);
  });
}

function showLearning(status) {
  const shown = state.head.entries.slice(0, MAX_LEARNING_CHARTS);
  if (learning.length !== shown.length) {
    at('learning').replaceChildren();
    learning = shown.map((entry, index) => {
      const figure = make('figure');
      at('learning').append(figure);
      return createChart(figure, {
        title: entry,
        series: [{ name: 'mean return', tone: 1, read: (point) => point.returns[index] ?? null }],
      });
    });
  }
  for (const draw of learning) draw(state.points);
  const episodes = Object.values(status.kinds).reduce((sum, kind) => sum + kind.episodes, 0);
  const hidden = state.head.entries.length - shown.length;
  setText(
    at('learning-note'),
    episodes === 0
      ? 'No episode has ended yet.'
      : `Mean return of the last 100 episodes; ${count(episodes)} episodes so far.${hidden > 0 ? ` ${hidden} more entries are in the report.` : ''}`,
  );
}

function showNotices() {
  const lines = [...state.notices.values()].sort((a, b) => b.t - a.t || b.key - a.key).slice(0, MAX_NOTICES);
  at('events').replaceChildren(
    ...lines.map(({ type, message, count: times, t }) => {
      const row = make('tr');
      row.dataset.bad = String(BAD.has(type));
      row.append(make('td', duration(t)), make('td', type, 'text'), make('td', count(times)), make('td', message, 'text wide'));
      return row;
    }),
  );
  at('events-scroll').hidden = lines.length === 0;
  const bad = lines.filter(({ type }) => BAD.has(type)).reduce((sum, { count: times }) => sum + times, 0);
  setText(
    at('events-note'),
    lines.length === 0 ? 'Nothing has happened yet.' : `${count(bad)} error events. What differs only in numbers is one line.`,
  );
  // Bounded here as on the server.
  for (const key of state.notices.keys()) if (!lines.some((line) => line.key === key)) state.notices.delete(key);
}

/** Where tiers began, from the points. */
function tierStarts() {
  return state.points.filter((point, index) => index > 0 && point.tier !== state.points[index - 1].tier).map(({ t }) => t);
}

function take(frame) {
  if (frame.whole) {
    state.points = [];
    state.notices.clear();
  }
  if (frame.head !== null) state.head = frame.head;
  if (state.head === null) return;
  state.points.push(...frame.points);
  for (const notice of frame.notices) state.notices.set(notice.key, notice);
  const { status, tiers } = frame;
  setText(at('run'), `run ${state.head.runId}, plan ${state.head.plan}`);
  at('run').title = state.head.command;
  setText(at('phase'), PHASES[status.phase]?.(status) ?? status.phase);
  setText(at('eta'), `run time ${duration(status.runSeconds)}, about ${duration(status.etaSeconds)} of measuring to go`);
  document.title = `${PHASES[status.phase]?.(status) ?? status.phase} · envladder live`;
  showTiers(status, tiers);
  showTiles(status);
  drawThroughput(state.points, tierStarts());
  drawFill(state.points, tierStarts());
  drawMap(frame.states, frame.stateCounts, state.head);
  showLearning(status);
  if (frame.whole || frame.notices.length > 0) showNotices();
  document.documentElement.dataset.frames = String(Number(document.documentElement.dataset.frames ?? 0) + 1);
}

function listen() {
  const source = new EventSource(`events${location.search}`);
  source.addEventListener('open', () => {
    state.heardMs = performance.now();
    showLink('live', 'live');
  });
  source.addEventListener('frame', (event) => {
    state.heardMs = performance.now();
    showLink('live', 'live');
    take(JSON.parse(event.data));
  });
  source.addEventListener('end', () => {
    state.over = true;
    source.close();
    showLink('over', 'the run is over: see its report');
  });
  source.addEventListener('error', () => {
    if (state.over) return;
    showLink('lost', 'connection lost, trying again');
    if (source.readyState === EventSource.CLOSED) setTimeout(listen, COME_BACK_MS);
  });
}

setInterval(() => {
  const silentMs = performance.now() - state.heardMs;
  if (!state.over && state.heardMs > 0 && silentMs > SILENT_AFTER_MS) showLink('lost', `no news for ${duration(silentMs / 1000)}`);
}, 1000);
listen();
