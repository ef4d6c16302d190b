import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { anchorOf, type DocSection, type DocsIndex } from '#lib/protocol/docs.ts'

const folder = () => join(process.cwd(), 'docs')

/** Lists with the tests behind them, for those who change Devdeck. */
const internal = ['faults', 'features']

/** Names of the pages for users. */
export const docPages = async (): Promise<string[]> =>
  (await readdir(folder()))
    .filter((file) => file.endsWith('.md'))
    .map((file) => file.slice(0, -'.md'.length))
    .filter((page) => !internal.includes(page))
    .sort()

/** The Markdown of a page; undefined if there is none. */
export const readDoc = async (page: string): Promise<string | undefined> =>
  (await docPages()).includes(page) ? readFile(join(folder(), `${page}.md`), 'utf8') : undefined

const allSections = async (): Promise<DocSection[][]> =>
  Promise.all((await docPages()).map(async (page) => sectionsOf(page, (await readDoc(page)) ?? '')))

/** Title and first sentence of each page. */
export const listDocs = async (): Promise<{ page: string; title: string; summary: string }[]> =>
  (await allSections()).flatMap(([first]) => {
    if (!first) return []
    const summary = /^[\s\S]*?[.:](?=\s|$)/.exec(first.text)?.[0].replace(/:$/, '.')
    return { page: first.page, title: first.page_title, summary: summary ?? '' }
  })

export const docsIndex = async (): Promise<DocsIndex> => ({ sections: (await allSections()).flat() })

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
