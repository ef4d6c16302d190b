import { describe, expect, it } from 'vitest'
import {
  cleanLabel,
  formatLayout,
  layoutParameter,
  maxTerminals,
  type PaneTree,
  panesOf,
  parseLayout,
  sharesOf,
  splitOf,
  type TerminalLayout,
} from './layout.ts'

const parse = (text: string | null) => parseLayout(text).layout
const trees = (text: string) => parse(text).tabs.map(({ tree }) => tree)
const right = (...parts: [PaneTree, number][]) => ({
  way: 'right',
  parts: parts.map(([tree, share]) => ({ tree, share })),
})
const down = (...parts: [PaneTree, number][]) => ({
  way: 'down',
  parts: parts.map(([tree, share]) => ({ tree, share })),
})
const throughAddress = (layout: TerminalLayout) =>
  parse(new URL(`http://x/?tab=terminal${layoutParameter(layout)}`).searchParams.get('t'))

describe('parseLayout', () => {
  it('returns one terminal for an empty address', () => {
    const alone = { tabs: [{ label: '', tree: 'main', active: 'main', isPinned: false }], active: 0 }
    for (const nothing of [null, '', ',', ',,', '()', '@', ':', '*60', '%', '\0', 'ü'])
      expect(parseLayout(nothing)).toEqual({ layout: alone, refused: [] })
  })

  it('reads tabs with labels and the visible one', () => {
    expect(parse('main,@build:Web server,logs')).toEqual({
      tabs: [
        { label: '', tree: 'main', active: 'main', isPinned: false },
        { label: 'Web server', tree: 'build', active: 'build', isPinned: false },
        { label: '', tree: 'logs', active: 'logs', isPinned: false },
      ],
      active: 1,
    })
  })

  it('reads pinned tabs, which come first', () => {
    expect(formatLayout(parse('main,@!logs,build,!b.c:x'))).toBe('!logs,!b.c:x,main,build')
    expect(formatLayout(parse('!main,@b'))).toBe('!main,@b')
    expect(formatLayout(parse('!@a,b'))).toBe('!a,b')
  })

  it('reads nested splits with shares and focus', () => {
    expect(trees('a.b')).toEqual([right(['a', 50], ['b', 50])])
    expect(trees('a/b')).toEqual([down(['a', 50], ['b', 50])])
    expect(trees('a*70.b')).toEqual([right(['a', 70], ['b', 30])])
    expect(trees('(a*60/b)*70.c')).toEqual([right([down(['a', 60], ['b', 40]) as PaneTree, 70], ['c', 30])])
    expect(parse('a.(b/@c)').tabs[0]?.active).toBe('c')
    expect(parse('x,@a.@b')).toMatchObject({ active: 1, tabs: [{}, { active: 'b' }] })
    expect(trees('a.b.c')).toEqual([right(['a', 34], ['b', 33], ['c', 33])])
  })

  it('skips invalid input', () => {
    for (const odd of ['a..b', 'a.b)', '(a.b', 'a. b', 'a.(b', '((a).(b))', 'a.b.', '.a.b', 'a.!b', '/a.b'])
      expect(trees(odd)).toEqual([right(['a', 50], ['b', 50])])
    expect(trees('a*.b')).toEqual(trees('a.b'))
    expect(trees('a*0.b')).toEqual(trees('a*5.b'))
    expect(trees('a*999.b')).toEqual(trees('a*95.b'))
    expect(trees(`a*${'9'.repeat(400)}.b`)).toEqual(trees('a*95.b'))
    expect(trees(`${'n'.repeat(257)},b`)).toEqual(['b'])
    expect(parse('a,@b,@c').active).toBe(1)
  })

  it('keeps each session once', () => {
    expect(trees('a.a,b,a')).toEqual(['a', 'b'])
  })

  it('refuses sessions over the limit by name', () => {
    const { layout, refused } = parseLayout('a.b,c,d,e,f/g,h,i,j.k')
    expect(layout.tabs.flatMap(({ tree }) => panesOf(tree))).toHaveLength(maxTerminals)
    expect(refused).toEqual(['i', 'j', 'k'])
  })
})

describe('formatLayout', () => {
  it('is empty for the default layout', () => {
    expect(formatLayout(parse(null))).toBe('')
    expect(layoutParameter(parse('main'))).toBe('')
    expect(formatLayout(parse('main:Work'))).toBe('main:Work')
    expect(formatLayout(parse('other'))).toBe('other')
  })

  it('has one canonical form', () => {
    const spellings = {
      '@main,build': 'main,build',
      'a*50.b*50': 'a.b',
      'a*70.b*30': 'a*70.b',
      '@a.@b': 'a.@b',
      'a/b.c': '(a/b).c',
      '(a.b).c': 'a*25.b*25.c',
      'a,@(b*60/(c.@d)):x': 'a,@b*60/(c.@d):x',
      '(main)': '',
    }
    for (const [odd, canonical] of Object.entries(spellings)) {
      expect(formatLayout(parse(odd))).toBe(canonical)
      expect(formatLayout(parse(canonical))).toBe(canonical)
    }
  })

  it('round-trips any label', () => {
    const labels = ['a,b', 'a~b', '~', ',', '@x', 'a:b.c/d*60', '%2C', '+', '日本 🚀', '&t=x#y', '\u202Eevil']
    for (const label of labels) {
      const layout = {
        tabs: [{ label, tree: 'main', active: 'main', isPinned: false }, ...parse('a*70.(b/@c)').tabs],
        active: 1,
      }
      expect(parse(formatLayout(layout))).toEqual(layout)
      expect(throughAddress(layout)).toEqual(layout)
    }
  })
})

describe('cleanLabel', () => {
  it('returns one line of at most 40 characters', () => {
    expect(cleanLabel('  a\nb\t\x1b[0m ')).toBe('a b [0m')
    expect(cleanLabel('🚀'.repeat(50))).toBe('🚀'.repeat(40))
    expect(() => encodeURIComponent(cleanLabel('x\ud800y'))).not.toThrow()
  })
})

describe('shares', () => {
  it('are integer percentages that add up to 100', () => {
    for (const given of [[1, 1, 1, 97], [undefined, 99], [0, 0], [1000, 1], Array(8).fill(undefined), [95, 95, 95]]) {
      const shares = sharesOf(given)
      expect(shares.reduce((sum, share) => sum + share, 0)).toBe(100)
      expect(Math.min(...shares)).toBeGreaterThanOrEqual(5)
      expect(shares.every(Number.isInteger)).toBe(true)
    }
  })
})

describe('splitOf', () => {
  it('flattens single parts and nested splits in the same direction', () => {
    expect(splitOf('right', [])).toBe(null)
    expect(splitOf('right', [{ tree: 'a', share: 40 }])).toBe('a')
    const inner = splitOf('right', [
      { tree: 'a', share: 50 },
      { tree: 'b', share: 50 },
    ]) as PaneTree
    expect(
      splitOf('right', [
        { tree: inner, share: 60 },
        { tree: 'c', share: 40 },
      ]),
    ).toEqual(right(['a', 30], ['b', 30], ['c', 40]))
  })
})
