import { expect, test } from 'vitest'
import { keptText, storedKinds } from './storage-text.ts'

const day = 24 * 3600

test('kinds are listed by size, and say how long they are kept', () => {
  const stored_bytes = { snapshots: 10, outputs: 30, run_logs: 20, objects: 0, videos: 5 }
  expect(storedKinds({ stored_bytes, limit_bytes: null, keep_ended_seconds: 30 * day })).toEqual([
    { kind: 'outputs', label: 'Command output', bytes: 30, kept: '30 days after the end' },
    { kind: 'run_logs', label: 'Run logs', bytes: 20, kept: '30 days after the end' },
    { kind: 'snapshots', label: 'Snapshots', bytes: 10, kept: 'Until deleted' },
    { kind: 'videos', label: 'videos', bytes: 5, kept: 'Unknown' },
  ])
  const [output] = storedKinds({ stored_bytes: { outputs: 1 }, limit_bytes: null, keep_ended_seconds: null })
  expect(output?.kept).toBe('Until deleted')
})

test('the time that ended records are kept is named, or that they are kept', () => {
  expect(keptText(7 * day)).toContain('are deleted 7 days after they have ended')
  expect(keptText(null)).toContain('are kept until they are pruned')
})
