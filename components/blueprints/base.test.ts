import { expect, it } from 'vitest'
import type { Blueprint } from '#lib/contract/blueprints.ts'
import { baseOf } from './base.tsx'

const base = (parameters: Partial<Blueprint['parameters']>, base_blueprint_id?: string) =>
  baseOf({ base_blueprint_id, parameters: { name: 'a', ...parameters } } as Blueprint)

it('is the base blueprint, or the image of the last stage', () => {
  const dockerfile = 'FROM golang:1.25 AS build\nRUN echo FROM nowhere\n  from --platform=linux/amd64 debian:bookworm\n'
  expect(base({ dockerfile })).toBe('debian:bookworm')
  expect(base({ dockerfile, base_blueprint_name: 'tools' })).toBe('tools')
  expect(base({ base_blueprint_name: 'tools' }, 'bpt_1')).toBe('bpt_1')
  expect(base({ system_setup_commands: ['true'] })).toBeUndefined()
})
