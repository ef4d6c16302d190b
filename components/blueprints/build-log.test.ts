import { expect, it } from 'vitest'
import { failingLine } from './build-log.tsx'

const record = (level: string, message: string) => ({ level, message, timestamp_ms: 0 })

it('finds the line that a build failed with', () => {
  const output = [record('ERROR', 'first'), record('error', 'npm: not found'), record('info', 'cleaning up')]
  expect(failingLine(output)).toBe('npm: not found')
  expect(failingLine([record('info', 'a'), record('info', 'killed')])).toBe('killed')
  expect(failingLine([])).toBeUndefined()
})
