import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CRASH_LIMIT,
  CRASH_WINDOW_MS,
  CrashPolicy,
  MINIMUM_LIFE_MS,
} from '../../client/src/crashes';

function policyWithClock() {
  const clock = { now: 1_000_000 };
  return { clock, policy: new CrashPolicy(() => clock.now) };
}

test('a server that worked for a while is started again', () => {
  const { clock, policy } = policyWithClock();
  policy.started();
  clock.now += MINIMUM_LIFE_MS;
  assert.equal(policy.shouldRestart(), true);
});

test('a server that ends right after its start is not', () => {
  const { clock, policy } = policyWithClock();
  policy.started();
  clock.now += MINIMUM_LIFE_MS - 1;
  assert.equal(policy.shouldRestart(), false);
});

test('nor one that never started', () => {
  assert.equal(policyWithClock().policy.shouldRestart(), false);
});

test('repeated crashes stop being silent, and a restart by the user begins anew', () => {
  const { clock, policy } = policyWithClock();
  const crashAfter = (life: number) => {
    policy.started();
    clock.now += life;
    return policy.shouldRestart();
  };
  for (let crash = 1; crash < CRASH_LIMIT; crash += 1) {
    assert.equal(crashAfter(MINIMUM_LIFE_MS), true);
  }
  assert.equal(crashAfter(MINIMUM_LIFE_MS), false);
  policy.forget();
  assert.equal(crashAfter(MINIMUM_LIFE_MS), true);
});

test('crashes of long ago do not count', () => {
  const { clock, policy } = policyWithClock();
  for (let crash = 0; crash < 3 * CRASH_LIMIT; crash += 1) {
    policy.started();
    clock.now += CRASH_WINDOW_MS;
    assert.equal(policy.shouldRestart(), true);
  }
});
