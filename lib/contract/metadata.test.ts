import { expect, it } from 'vitest'
import { Metadata } from './common.ts'
import { endpoints } from './index.ts'
import { fieldProblems, shapeOf } from './query-string.ts'

const pairs = (count: number, length = 1) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`key ${i}`, 'v'.repeat(length)]))

const accepting = endpoints.flatMap(({ id, body }) => (body && 'metadata' in shapeOf(body) ? [{ id, body }] : []))

it('is accepted in these request bodies', () => {
  expect(accepting.map(({ id }) => id).sort()).toEqual([
    ...['axons.create', 'axons.update', 'benchmarkJobs.create', 'benchmarks.create', 'benchmarks.startRun'],
    ...[
      'benchmarks.update',
      'blueprints.create',
      'blueprints.preview',
      'devboxes.create',
      'devboxes.createAndAwaitRunning',
      'devboxes.update',
    ],
    ...[
      'objects.create',
      'scenarioRuns.start',
      'scenarios.create',
      'scenarios.update',
      'snapshots.create',
      'snapshots.createAsync',
    ],
    'snapshots.update',
  ])
})

it.each(accepting)('is limited in the body of $id', ({ body }) => {
  for (const [metadata, message] of [
    [pairs(129), 'must have at most 128 pairs, not 129'],
    [{ ['k'.repeat(257)]: '' }, 'must have keys of at most 256 characters'],
    [{ note: 'é'.repeat(4097) }, 'must have values of at most 4096 characters; "note" is longer'],
    [pairs(17, 4096), 'must have at most 65536 bytes in all keys and values together'],
    [{ ...pairs(15, 4096), emoji: '🦀'.repeat(1100) }, 'must have at most 65536 bytes in all keys and values together'],
    [{ a: 1 }, 'must be an object whose values are all strings'],
  ] as const) {
    const { error } = body.safeParse({ metadata })
    expect(fieldProblems(error ?? { issues: [] })).toContainEqual({ field: 'metadata', message })
  }
})

it.each([
  pairs(128),
  { ['🦀'.repeat(256)]: '🦀'.repeat(4096) },
  { ...pairs(15, 4096), rest: 'v'.repeat(65_536 - 15 * 4096 - 5 * 10 - 6 * 5 - 4) },
  JSON.parse('{"__proto__":"x","":""}'),
])('is accepted up to each limit, counted in Unicode characters (%#)', (metadata) => {
  expect(Metadata.safeParse(metadata)).toEqual({ success: true, data: metadata })
})
