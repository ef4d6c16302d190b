import { expect, it } from 'vitest'
import { failedLineOf } from './line-number.ts'

it('finds the failed line of a Dockerfile, with or without its FROM', () => {
  const message = 'Dockerfile line 3: RUN npm install failed with exit code 127: npm: not found'
  expect(failedLineOf(['FROM debian', 'USER root', 'RUN npm install'], message)).toBe(3)
  expect(failedLineOf(['USER root', 'RUN npm install \\', '  left-pad'], message)).toBe(2)
  expect(failedLineOf(['USER root', 'RUN true', 'RUN false'], message)).toBeUndefined()
  expect(failedLineOf(['', 'FROM node:22', 'RUN true'], 'FROM node:22: no such image')).toBe(2)
  expect(failedLineOf(['RUN npm install'], 'Out of disk')).toBeUndefined()
})
