import { describe, expect, it } from 'vitest'
import type { RunLogFile } from '#lib/protocol/run-logs.ts'
import { attemptRecord, filesOfAttempt, isRewardFile, logsOfAttempt } from './outcome-record.tsx'

const file = (path: string, refusal: string | null = null): RunLogFile => ({
  path,
  size_bytes: 1,
  packed_bytes: 1,
  modified_ms: null,
  version: 'v',
  refusal,
})

describe('files of an attempt', () => {
  const files = filesOfAttempt(
    [
      file('results.json'),
      file('scr_2_in_a_name__1/scr_1_result.json'),
      file('one__1/scr_1_trial.log'),
      file('one__1/scr_1_verifier/reward.txt'),
      file('one__1/scr_1_verifier/test-stdout.txt'),
      file('one__1/scr_1_agent/command.txt'),
      file('one__1/scr_1_agent/broken.log', 'is encrypted'),
      file('two__1/scr_2_trial.log'),
      file('two__1/scr_12_trial.log'),
    ],
    'scr_1',
  )

  it('start with its id', () => {
    expect(files.map(({ name }) => name).join(' ')).toBe(
      'result.json trial.log verifier/reward.txt verifier/test-stdout.txt agent/command.txt agent/broken.log',
    )
  })

  it('list readable logs, the agent first', () => {
    const logs = logsOfAttempt(files).map(({ name }) => name)
    expect(logs).toEqual(['agent/command.txt', 'trial.log', 'verifier/test-stdout.txt'])
    expect(files.filter(isRewardFile).map(({ name }) => name)).toEqual(['verifier/reward.txt'])
  })
})

describe('the record of an attempt', () => {
  it('has phase durations and rewards', () => {
    const record = attemptRecord(
      JSON.stringify({
        environment_setup: { started_at: '2026-01-01T00:00:00.000Z', finished_at: '2026-01-01T00:00:01.500Z' },
        agent_setup: null,
        agent_execution: { started_at: '2026-01-01T00:00:01.500Z', finished_at: null },
        verifier_result: { rewards: { reward: 0.5, style: 1, note: 'text' } },
      }),
    )
    expect(record).toEqual({
      phases: [
        { name: 'Environment', duration_ms: 1500 },
        { name: 'Agent', duration_ms: null },
      ],
      rewards: { reward: 0.5, style: 1 },
    })
  })

  it.each(['', 'null', '[1]', '{"verifier_result": {"rewards": [', '"text"'])('is not read from %j', (text) => {
    expect(attemptRecord(text)).toBeNull()
  })

  it('ignores malformed content', () => {
    expect(attemptRecord('{"verifier": 3, "verifier_result": "all"}')).toEqual({ phases: [], rewards: {} })
  })
})
