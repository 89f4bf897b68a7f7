import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Newest, SingleFlight } from '../../client/src/queue';

/** A job whose runs end when the test says so. */
function gated() {
  const runs: { finish(): void; fail(error: Error): void }[] = [];
  const job = () =>
    new Promise<void>((resolve, reject) => runs.push({ finish: resolve, fail: reject }));
  return { job, runs };
}

test('requests during a run share the one run that follows', async () => {
  const { job, runs } = gated();
  const queue = new SingleFlight(job);
  const first = queue.request();
  const later = [queue.request(), queue.request(), queue.request()];
  assert.equal(runs.length, 1);
  runs[0]?.finish();
  await first;
  await Promise.resolve();
  assert.equal(runs.length, 2);
  runs[1]?.finish();
  await Promise.all(later);
  assert.equal(runs.length, 2);
});

test('a run that fails does not stop the next', async () => {
  const { job, runs } = gated();
  const queue = new SingleFlight(job);
  const first = queue.request();
  const second = queue.request();
  runs[0]?.fail(new Error('no server'));
  await assert.rejects(first, /no server/);
  await new Promise(setImmediate);
  runs[1]?.finish();
  await second;
  const third = queue.request();
  runs[2]?.finish();
  await third;
  assert.equal(runs.length, 3);
});

test('two runs are never under way at once, however the requests fall', async () => {
  let active = 0;
  let most = 0;
  const queue = new SingleFlight(async () => {
    active += 1;
    most = Math.max(most, active);
    await new Promise(setImmediate);
    active -= 1;
  });
  const requests = Array.from({ length: 20 }, async (_, index) => {
    for (let turn = 0; turn < index; turn += 1) {
      await Promise.resolve();
    }
    await queue.request();
  });
  await Promise.all(requests);
  assert.equal(most, 1);
});

test('an answer that comes after a later question counts no more', async () => {
  const newest = new Newest();
  let slowly: (value: string) => void = () => assert.fail();
  const slow = newest.answer(() => new Promise<string>((resolve) => (slowly = resolve)));
  const quick = newest.answer(async () => 'the interpreter of the setting');
  assert.equal(await quick, 'the interpreter of the setting');
  slowly('the interpreter from before the setting');
  assert.equal(await slow, undefined);
  assert.equal(await newest.answer(async () => 'another'), 'another');
});
