import { expect, it } from 'vitest'
import { lineDiff } from './line-diff.ts'

const diff = (before: string, after: string) =>
  lineDiff(before, after).map(({ kind, text }) => `${{ same: ' ', removed: '-', added: '+' }[kind]}${text}`)

it('lists removed and added lines with their positions', () => {
  expect(diff('a\nb\nc\nd', 'a\nx\nc\nd\ne')).toEqual([' a', '-b', '+x', ' c', ' d', '+e'])
  expect(diff('agents:\n- one\n- two', 'agents:\n- two\n- three')).toEqual([' agents:', '-- one', ' - two', '+- three'])
})

it('can restore both texts, whatever they are', () => {
  const texts = ['a\na\nb', 'b\na', '', 'a\nb\na\nb', 'x\n'.repeat(3000), 'y\n'.repeat(3000)]
  for (const before of texts)
    for (const after of texts) {
      const lines = lineDiff(before, after)
      const side = (kind: 'removed' | 'added') =>
        lines.filter((line) => line.kind === 'same' || line.kind === kind).map(({ text }) => text)
      expect(side('removed').join('\n')).toBe(before)
      expect(side('added').join('\n')).toBe(after)
    }
})
