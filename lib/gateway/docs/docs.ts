import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { anchorOf, type DocSection, type DocsIndex } from '#lib/protocol/docs.ts'

/** Pages of the documentation for users, in reading order. */
export const docPages = [
  'scripting',
  'gates',
  'statistics',
  'agents',
  'engines',
  'alerts',
  'cluster',
  'recovery',
] as const
export type DocPage = (typeof docPages)[number]

export const isDocPage = (name: string): name is DocPage => docPages.some((page) => page === name)

export const readDoc = (page: DocPage): Promise<string> => readFile(join(process.cwd(), 'docs', `${page}.md`), 'utf8')

/** Title and first sentence of each page. */
export const listDocs = async (): Promise<{ page: DocPage; title: string; summary: string }[]> =>
  Promise.all(
    docPages.map(async (page) => {
      const [first] = sectionsOf(page, await readDoc(page))
      const summary = /^[\s\S]*?[.:](?=\s|$)/.exec(first?.text ?? '')?.[0].replace(/:$/, '.')
      return { page, title: first?.page_title ?? page, summary: summary ?? '' }
    }),
  )

export const docsIndex = async (): Promise<DocsIndex> => ({
  sections: (await Promise.all(docPages.map(async (page) => sectionsOf(page, await readDoc(page))))).flat(),
})

export const sectionsOf = (page: string, markdown: string): DocSection[] => {
  const sections: (Omit<DocSection, 'text'> & { lines: string[] })[] = []
  let isCode = false
  for (const line of markdown.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode
    const [, marks = '', title = ''] = (isCode ? null : /^(#{1,4}) (.+)$/.exec(line)) ?? []
    const heading = plainText(title)
    if (marks === '') sections.at(-1)?.lines.push(line)
    else
      sections.push({
        page,
        page_title: sections[0]?.page_title ?? heading,
        anchor: marks === '#' ? '' : anchorOf(heading),
        heading,
        lines: [],
      })
  }
  return sections.map(({ lines, ...section }) => ({ ...section, text: plainText(lines.join('\n')) }))
}

/** Without marks, tables' bars and addresses of links. */
const plainText = (markdown: string): string =>
  markdown
    .replace(/^```.*$/gm, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^\s*\|?(\s*:?-{3,}:?\s*\|)+\s*(:?-{3,}:?)?\s*$/gm, '')
    .replace(/[`*|]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
