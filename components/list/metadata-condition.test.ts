import { describe, expect, it } from 'vitest'
import { conditionText, readCondition, withCondition, withoutCondition } from './metadata-condition.ts'

describe('readCondition', () => {
  it('reads one value verbatim', () => {
    expect(readCondition('env', 'eq', ' a,b ')).toEqual({
      ok: true,
      condition: { key: 'env', op: 'eq', value: ' a,b ' },
    })
  })

  it('splits several values at commas, except after a backslash', () => {
    expect(readCondition('env', 'in', 'staging, prod ,prod,,x\\,y')).toEqual({
      ok: true,
      condition: { key: 'env', op: 'in', values: ['prod', 'staging', 'x,y'] },
    })
  })

  it('reports missing parts', () => {
    expect(readCondition('', 'eq', 'x')).toMatchObject({ ok: false, message: 'A filter needs a key' })
    expect(readCondition('env', 'eq', '')).toMatchObject({ ok: false, message: 'A filter needs a value' })
    expect(readCondition('env', 'in', ' , ,')).toMatchObject({ ok: false, message: 'A filter needs a value' })
    expect(readCondition('a][b', 'eq', 'x')).toMatchObject({ ok: false })
  })
})

it('keeps one condition of each kind for a key', () => {
  const first = { key: 'env', op: 'eq' as const, value: 'dev' }
  const any = { key: 'env', op: 'in' as const, values: ['dev', 'prod'] }
  const second = { key: 'env', op: 'eq' as const, value: 'prod' }
  expect(withCondition(withCondition([first], any), second)).toEqual([any, second])
  expect(withoutCondition([any, second], any)).toEqual([second])
  expect(withoutCondition([second], second)).toBeUndefined()
  expect([any, second].map(conditionText)).toEqual(['env is dev or prod', 'env=prod'])
})
