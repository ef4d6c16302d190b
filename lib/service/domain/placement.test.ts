import { expect, it } from 'vitest'
import { placementIn, placementProblem } from './placement.ts'

const of = (placement: string) => ({ 'devdeck.placement': placement, team: 'a' })

it('reads constraints from metadata', () => {
  expect(placementIn({ team: 'a' })).toEqual([])
  expect(placementIn(of('node.labels.pool==agents, node.role != manager,'))).toEqual([
    'node.labels.pool==agents',
    'node.role != manager',
  ])
})

it('names a constraint that is not valid', () => {
  expect(placementProblem(of('node.labels.pool==agents'))).toBeUndefined()
  expect(placementProblem(of('engine.labels.os==linux,node-2'))).toMatch(/not node-2$/)
})
