import { describe, expect, it } from 'vitest'
import { AxonListQuery } from './axons.ts'
import { DevboxListQuery } from './devboxes.ts'
import { encodeQuery, type MetadataCondition } from './encode-query.ts'
import { maxMetadataConditions, parseQuery } from './query-string.ts'
import { SizeQuery } from './terminals.ts'

const read = (search: string) => {
  const parsed = parseQuery(AxonListQuery, search)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))
  return parsed.value
}
const invalidFields = (search: string) => {
  const parsed = parseQuery(AxonListQuery, search)
  return parsed.ok ? [] : parsed.problems.map(({ field }) => field)
}
const metadata = (search: string) => read(search).metadata
const defaults = { limit: 20, include_total_count: true }

describe('parsing', () => {
  it.each(['', '?', '&', 'name=', 'id=&limit=&metadata[a]=&metadata[a][in]=&metadata[b][in]=,,&include_total_count='])(
    'reads %j as no filter',
    (search) => expect(read(search)).toEqual(defaults),
  )

  it('ignores unknown parameters', () => {
    expect(read('utm=1&__proto__=x&constructor=y&toString=z&hasOwnProperty=&limits=0')).toEqual(defaults)
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  })

  it('reads all scalars', () => {
    expect(read('name=a%20b&id=axn_1&search=%25&limit=5000&starting_after=axn_0&include_total_count=false')).toEqual({
      name: 'a b',
      id: 'axn_1',
      search: '%',
      limit: 5000,
      starting_after: 'axn_0',
      include_total_count: false,
    })
  })

  it('accepts a repeated parameter only with equal values', () => {
    expect(read('name=a&name=a').name).toBe('a')
    expect(invalidFields('name=a&name=b')).toEqual(['name'])
    expect(invalidFields('metadata[a]=1&metadata[a]=2')).toEqual(['metadata[a]'])
  })

  it('splits [in] at commas, merges repeated ones and drops empty and duplicate values', () => {
    expect(metadata('metadata[a][in]=c,b,,c&metadata[a][in]=a')).toEqual([
      { key: 'a', op: 'in', values: ['a', 'b', 'c'] },
    ])
  })

  it.each([
    ['a\\,b', ['a,b']],
    ['a\\\\,b', ['a\\', 'b']],
    ['\\', ['\\']],
    ['\\\\\\,', ['\\,']],
  ])('reads the list %j as %j', (text, values) => {
    expect(metadata(`metadata[k][in]=${encodeURIComponent(text)}`)).toEqual([{ key: 'k', op: 'in', values }])
  })

  it.each([
    ['metadata[a]b]=1', 'a]b'],
    ['metadata[[]]=1', '[]'],
    ['metadata[__proto__]=1', '__proto__'],
    ['metadata[in]=1', 'in'],
    ['metadata[a%26b%3Dc%2Bd]=1', 'a&b=c+d'],
  ])('reads the key of %s', (search, key) => expect(metadata(search)).toEqual([{ key, op: 'eq', value: '1' }]))

  it.each([
    ...['metadata=1', 'metadata[]=1', 'metadata[=1', 'metadata[a]x=1', 'metadata[][in]=1', 'metadata[a][nin]=1'],
    ...['metadata[a][]=1', 'metadata[a][in][in]=1', 'limit=-1', 'limit=5001', 'limit=1.0', 'limit=1e1', 'limit=0x1'],
  ])('reports %s as invalid', (search) => expect(invalidFields(search)).toEqual([search.slice(0, search.indexOf('='))]))

  it('limits the number of conditions', () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => `metadata[k${i}]=v`).join('&')
    expect(metadata(many(maxMetadataConditions))).toHaveLength(maxMetadataConditions)
    expect(invalidFields(many(maxMetadataConditions + 1))).toContain('metadata')
  })

  it('reads the parameters of a pipe', () => {
    expect(parseQuery(SizeQuery, 'cols=5000')).toEqual({ ok: true, value: {} })
    expect(parseQuery(SizeQuery, 'cols=5000&rows=24').ok).toBe(false)
    expect(parseQuery(DevboxListQuery, 'status=dancing').ok).toBe(false)
  })
})

describe('encoding', () => {
  it('sorts conditions and values', () => {
    const a: MetadataCondition = { key: 'a', op: 'in', values: ['y', 'x', 'y'] }
    const b: MetadataCondition = { key: 'b', op: 'eq', value: '1' }
    expect(encodeQuery({ metadata: [b, a] })).toBe('metadata[a][in]=x,y&metadata[b]=1')
    expect(encodeQuery({ metadata: [{ ...a, values: ['x', 'y'] }, b] })).toBe('metadata[a][in]=x,y&metadata[b]=1')
  })
})

describe('a round trip', () => {
  const pieces = [...'aB0 +%&=#?,\\[]"\'\n\0é😀\u2028;/', '%41', '\\,', '__proto__', 'in', '..']

  it('preserves any filter and is canonical', () => {
    const below = seededRandom(42)
    const text = (maxPieces: number) =>
      Array.from({ length: 1 + below(maxPieces) }, () => pieces[below(pieces.length)]).join('')
    for (let i = 0; i < 500; i++) {
      const conditions = new Map<string, MetadataCondition>()
      for (let count = below(4); count > 0; count--) {
        const key = text(3)
        if (key.includes('][')) continue
        const values = [...new Set(Array.from({ length: 1 + below(4) }, () => text(3)))].sort()
        if (below(2) === 0) conditions.set(`${key} eq`, { key, op: 'eq', value: text(4) })
        else conditions.set(`${key} in`, { key, op: 'in', values })
      }
      const query = {
        ...(below(2) === 0 && { name: text(5) }),
        ...(below(2) === 0 && { search: text(5) }),
        ...(conditions.size > 0 && { metadata: [...conditions.values()] }),
        limit: 1 + below(5_000),
        include_total_count: below(2) === 0,
      }
      const encoded = encodeQuery(query)
      const parsed = read(encoded)
      const sorted = (metadata: readonly MetadataCondition[] = []) =>
        metadata.map((each) => JSON.stringify(each)).sort()
      expect({ ...parsed, metadata: sorted(parsed.metadata) }).toEqual({ ...query, metadata: sorted(query.metadata) })
      expect(encodeQuery(parsed)).toBe(encoded)
      expect(read(new URL(`http://x/?${encoded}`).search)).toEqual(parsed)
    }
  })
})

const seededRandom = (seed: number) => {
  let state = seed
  return (limit: number) => {
    state = (state * 48_271) % 2_147_483_647
    return state % limit
  }
}
