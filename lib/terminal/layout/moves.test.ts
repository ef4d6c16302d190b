import { describe, expect, it } from 'vitest'
import { formatLayout, parseLayout, singleTab, type TerminalLayout } from './layout.ts'
import * as moves from './moves.ts'

const changed = (text: string, change: (layout: TerminalLayout) => TerminalLayout) =>
  formatLayout(change(parseLayout(text).layout))

describe('a layout changes:', () => {
  it('a new tab stands beside the shown one and is shown', () => {
    expect(changed('a,b', (it) => moves.openTab(it, singleTab('c')))).toBe('a,@c,b')
    expect(changed('a.b,@c', (it) => moves.openTab(it, singleTab('b')))).toBe('a.@b,c')
  })

  it('a split halves the pane, and the new one has the keyboard', () => {
    expect(changed('a', (it) => moves.splitPane(it, 'a', 'right', 'b'))).toBe('a.@b')
    expect(changed('a.b', (it) => moves.splitPane(it, 'b', 'right', 'c'))).toBe('a*50.b*25.@c')
    expect(changed('a.b', (it) => moves.splitPane(it, 'b', 'down', 'c'))).toBe('a.(b/@c)')
    expect(changed('a*70.b', (it) => moves.splitPane(it, 'a', 'down', 'c'))).toBe('(a/@c)*70.b')
    expect(changed('a,b', (it) => moves.splitPane(it, 'a', 'down', 'b'))).toBe('a,@b')
    expect(changed('a', (it) => moves.splitPane(it, 'x', 'down', 'b'))).toBe('a')
  })

  it('a closed pane leaves its room and the keyboard to its neighbor', () => {
    expect(changed('a.b', (it) => moves.closePane(it, 'a'))).toBe('b')
    expect(changed('a.@b.c', (it) => moves.closePane(it, 'b'))).toBe('a.c')
    expect(changed('@a.b', (it) => moves.closePane(it, 'a'))).toBe('b')
    expect(changed('a.(b/@c)', (it) => moves.closePane(it, 'c'))).toBe('a.@b')
    expect(changed('a.@(b/c)', (it) => moves.closePane(it, 'a'))).toBe('b/c')
    expect(changed('a,b.c', (it) => moves.closePane(it, 'a'))).toBe('b.c')
    expect(changed('a', (it) => moves.closePane(it, 'a'))).toBe('a')
    expect(changed('a,b', (it) => moves.closePane(it, 'x'))).toBe('a,b')
  })

  it('after a closed tab the next one is shown', () => {
    expect(changed('a,@b,c', (it) => moves.closeTab(it, 1))).toBe('a,@c')
    expect(changed('a,b,@c', (it) => moves.closeTab(it, 2))).toBe('a,@b')
    expect(changed('a,@b,c', (it) => moves.closeTab(it, 0))).toBe('b,c')
    expect(changed('a,@b,c', (it) => moves.closeTab(it, 2))).toBe('a,@b')
    expect(changed('a', (it) => moves.closeTab(it, 0))).toBe('a')
    expect(changed('a,b', (it) => moves.closeTab(it, 7))).toBe('a,b')
  })

  it('a moved tab keeps what is shown', () => {
    expect(changed('a,@b,c', (it) => moves.moveTab(it, 1, 0))).toBe('b,a,c')
    expect(changed('a,@b,c', (it) => moves.moveTab(it, 0, 2))).toBe('b,c,a')
    expect(changed('a,@b,c', (it) => moves.moveTab(it, 2, -3))).toBe('c,a,@b')
    expect(changed('a,b', (it) => moves.moveTab(it, 5, 0))).toBe('a,b')
  })

  it('a label is cleaned, and an empty one gives the name back to the shell', () => {
    expect(changed('a', (it) => moves.renameTab(it, 0, ' Web\nserver '))).toBe('a:Web server')
    expect(changed('a:x', (it) => moves.renameTab(it, 0, '  '))).toBe('a')
  })

  it('a pane that is wanted is shown with its tab', () => {
    expect(changed('a,b.c', (it) => moves.activatePane(it, 'c'))).toBe('a,@b.@c')
    expect(changed('a,b.c', (it) => moves.activatePane(it, 'x'))).toBe('a,b.c')
    expect(changed('a,b', (it) => moves.showTab(it, 9))).toBe('a,b')
  })

  it('a pane moves into a tab of its own', () => {
    expect(changed('a.b,c', (it) => moves.breakOut(it, 'b'))).toBe('a,@b,c')
    expect(changed('a,b', (it) => moves.breakOut(it, 'b'))).toBe('a,b')
  })

  it('a line moves in the split it belongs to', () => {
    expect(changed('a.(b/c)', (it) => moves.setShares(it, 0, [1], [20, 80]))).toBe('a.(b*20/c)')
    expect(changed('a.(b/c)', (it) => moves.setShares(it, 0, [], [20, 80]))).toBe('a*20.(b/c)')
    expect(changed('a.(b/c)', (it) => moves.setShares(it, 0, [0, 3], [20, 80]))).toBe('a.(b/c)')
  })
})

describe('freeName', () => {
  it('is the first that nothing has', () => {
    expect(moves.freeName([])).toBe('main')
    expect(moves.freeName(['main'])).toBe('shell-2')
    expect(moves.freeName(['main', 'shell-2', 'shell-4'])).toBe('shell-3')
  })
})
