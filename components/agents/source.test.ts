import { expect, it } from 'vitest'
import type { AgentSource } from '#lib/contract/agents.ts'
import { setupOf, sourceText } from './source.ts'

it.each<[AgentSource | null, string]>([
  [{ type: 'npm', npm: { package_name: '@acme/agent', npm_version: '1.2' } }, 'npm @acme/agent@1.2'],
  [{ type: 'pip', pip: { package_name: 'agent', pip_version: '2.0' } }, 'pip agent==2.0'],
  [
    { type: 'git', git: { repository: 'https://example.com/a.git', ref: 'main' } },
    'git https://example.com/a.git#main',
  ],
  [{ type: 'object', object: { object_id: 'obj_1' } }, 'object obj_1'],
  [null, 'Not reported'],
])('describes %o', (source, text) => {
  expect(sourceText(source)).toBe(text)
})

it('finds the setup commands of a source', () => {
  expect(setupOf({ type: 'npm', npm: { package_name: 'a', agent_setup: ['make'] } })).toEqual(['make'])
  expect(setupOf(null)).toEqual([])
})
