import { describe, expect, it } from 'vitest'
import { Axon, AxonList } from './axons.ts'
import { BenchmarkOutcome } from './benchmark-jobs.ts'
import { Devbox, DevboxList } from './devboxes.ts'
import { readLeniently } from './lenient.ts'
import { ScoringFunction } from './scenarios.ts'

describe('reading an answer leniently', () => {
  it('leaves a valid answer as it is, with what the schema does not know', () => {
    const axon = {
      id: 'axn_1',
      name: null,
      created_at_ms: 1,
      metadata: JSON.parse('{"__proto__":"kept","a":"b"}'),
      colour: { of: ['tomorrow'] },
    }
    const page = { axons: [axon], has_more: true, total_count: null, next: 'soon' }
    expect(JSON.stringify(readLeniently(AxonList, page))).toBe(JSON.stringify(page))
  })

  it('reads lists and maps that are null or missing as empty', () => {
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

  it('keeps unknown values of a growing list and makes text of what is none', () => {
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

  it('reads what is of one of several kinds as that kind', () => {
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

  it('leaves out a score or a duration that is no number, and takes an infinite one for none', () => {
    const told = {
      benchmark_run_id: 'bmr_1',
      average_score: 'good',
      duration_ms: '5 s',
      n_failed: Number.POSITIVE_INFINITY,
    }
    expect(readLeniently(BenchmarkOutcome, told)).toMatchObject({
      average_score: null,
      duration_ms: null,
      n_failed: Number.NaN,
    })
    expect(readLeniently(BenchmarkOutcome, { average_score: 0.5 })).toMatchObject({ average_score: 0.5 })
  })

  it('reads a time nobody told as no number, and an item that is no object as none', () => {
    expect(readLeniently(Axon, { id: 'axn_1' }).created_at_ms).toBeNaN()
    expect(readLeniently(AxonList, { axons: [null, 'x', { id: 'axn_1' }] }).axons).toHaveLength(1)
  })
})
