import { describe, expect, it } from 'vitest'
import { AxonListQuery } from '#lib/contract/axons.ts'
import { pageDefaults, searchOf } from './search.ts'
import { pageQuery } from './url-query.ts'

describe('pageQuery', () => {
  it('names each field whose value the list refuses', () => {
    for (const limit of ['-1', '5001', 'x', '1.5']) {
      const parsed = pageQuery(AxonListQuery, { limit, id: 'nope' })
      expect(parsed.ok ? [] : parsed.problems.map(({ field }) => field).sort()).toEqual(['id', 'limit'])
    }
  })

  it('reports a parameter that is given twice', () => {
    expect(pageQuery(AxonListQuery, { name: ['a', 'b'] })).toMatchObject({ ok: false, problems: [{ field: 'name' }] })
  })
})

describe('searchOf', () => {
  it('is read back as the same query, whatever the values hold', () => {
    const query = {
      search: 'ü & [x]=?#%',
      limit: 7,
      metadata: [
        { key: 'a=b&c', op: 'eq' as const, value: '\\,' },
        { key: 'list', op: 'in' as const, values: ['one, two', 'three\\'] },
      ],
    }
    const params = Object.fromEntries(new URLSearchParams(searchOf(query, pageDefaults)))
    expect(pageQuery(AxonListQuery, params)).toEqual({ ok: true, value: { ...query, include_total_count: true } })
  })
})
