import { describe, expect, it } from 'vitest'
import { AxonList } from './axons.ts'
import { BenchmarkOutcome } from './benchmark-jobs.ts'
import { Devbox, DevboxList } from './devboxes.ts'
import { readLeniently } from './lenient.ts'
import { ScoringFunction } from './scenarios.ts'

describe('reading a response leniently', () => {
  it('returns a valid response unchanged, with unknown fields', () => {
    const axon = {
      id: 'axn_1',
      name: null,
      created_at_ms: 1,
      metadata: JSON.parse('{"__proto__":"kept","a":"b"}'),
      color: { of: ['tomorrow'] },
    }
    const page = { axons: [axon], has_more: true, total_count: null, next: 'soon' }
    expect(JSON.stringify(readLeniently(AxonList, page))).toBe(JSON.stringify(page))
  })

  it('reads missing lists and maps as empty', () => {
    expect(readLeniently(DevboxList, { devboxes: null })).toEqual({ devboxes: [], has_more: false })
    const { launch_parameters, metadata, capabilities, state_transitions } = readLeniently(Devbox, {
      id: 'dbx_1',
      launch_parameters: null,
      metadata: null,
    })
    expect({ launch_parameters, metadata, capabilities, state_transitions }).toEqual({
      launch_parameters: {},
      metadata: {},
      capabilities: [],
      state_transitions: [],
    })
  })

  it('keeps unknown enum values and converts values to text', () => {
    const devbox = readLeniently(Devbox, {
      id: 7,
      status: 'hibernating',
      metadata: { count: 3, nested: { a: 1 }, none: null },
      failure_reason: null,
      state_transitions: [null, { status: null, transition_time_ms: null }, 'x'],
    })
    expect(devbox).toMatchObject({
      id: '7',
      status: 'hibernating',
      metadata: { count: '3', nested: '{"a":1}', none: '' },
      failure_reason: null,
      state_transitions: [{}],
    })
  })

  it('reads a known variant of a union and passes others through', () => {
    const read = (scorer: unknown) =>
      readLeniently(ScoringFunction, { name: 'answer', weight: 1, scorer }).scorer as unknown
    expect(read({ type: 'bash_script_scorer', bash_script: 12 })).toEqual({
      type: 'bash_script_scorer',
      bash_script: '12',
    })
    expect(read({ type: 'test_based_scorer', test_files: ['novel'] })).toEqual({
      type: 'test_based_scorer',
      test_files: [],
    })
    for (const passed of [{ type: 'novel', bash_script: 12 }, { bash_script: 12 }, null, 'novel'])
      expect(read(passed)).toBe(passed)
  })

  it('reads invalid and infinite numbers as missing', () => {
    const outcome = {
      benchmark_run_id: 'bmr_1',
      average_score: 'good',
      duration_ms: '5 s',
      n_failed: Number.POSITIVE_INFINITY,
    }
    expect(readLeniently(BenchmarkOutcome, outcome)).toMatchObject({
      average_score: null,
      duration_ms: null,
      n_failed: Number.NaN,
    })
    expect(readLeniently(BenchmarkOutcome, { average_score: 0.5 })).toMatchObject({ average_score: 0.5 })
  })
})
