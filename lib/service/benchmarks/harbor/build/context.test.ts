import { expect, it } from 'vitest'
import { ignoredBy } from './context.ts'

const cases: [rules: string, excluded: string[], included: string[]][] = [
  ['*.md', ['a.md'], ['a/b.md', 'a.md.txt']],
  ['**/*.md', ['a.md', 'a/b/c.md'], ['a.mdx']],
  ['/build', ['build', 'build/a/b'], ['src/build', 'builds']],
  ['build/', ['build', 'build/a'], ['a/build']],
  ['./a/../b', ['b'], ['a']],
  ['*/temp*', ['a/temp', 'a/temporary/b'], ['temp', 'a/b/temp']],
  ['temp?', ['tempa'], ['temp', 'tempab', 'temp/']],
  ['a/**', ['a/b', 'a/b/c'], ['a']],
  ['**', ['a', 'a/b'], []],
  ['a/**/z', ['a/z', 'a/b/c/z'], ['az', 'a/bz']],
  ['# a comment\n\n  a  \n#b', ['a'], ['#b', '# a comment']],
  ['*.md\n!README*.md\nREADME-secret.md', ['a.md', 'README-secret.md'], ['README.md']],
  ['docs\n!docs/included', ['docs', 'docs/a'], ['docs/included', 'docs/included/b']],
  ['a.b+(c)', ['a.b+(c)'], ['aXb+(c)']],
]

it.each(cases)('.dockerignore %j excludes %j and includes %j', (rules, excluded, included) => {
  const isIgnored = ignoredBy(rules)
  expect([...excluded, ...included].filter((path) => isIgnored(path))).toEqual(excluded)
})
