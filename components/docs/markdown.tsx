import Link from 'next/link'
import { isValidElement, type ReactNode } from 'react'
import Markdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { paths } from '#lib/browser/address/paths.ts'
import { anchorOf } from '#lib/protocol/docs.ts'

/** A page of the documentation. Rendered on the server, so that pages load no Markdown parser. */
export const DocText = ({ markdown, pages }: { markdown: string; pages: readonly string[] }) => (
  <div className="max-w-4xl space-y-4 text-lg [&_li]:max-w-prose [&_p]:max-w-prose [&_h2]:pt-4 [&_h2]:text-xl [&_h2]:font-semibold [&_h3]:pt-2 [&_h3]:text-lg [&_h3]:font-semibold [&_ol]:list-decimal [&_ol]:pl-5 [&_ul]:list-disc [&_ul]:pl-5">
    <Markdown
      remarkPlugins={[remarkGfm]}
      components={{ ...components, a: ({ href = '', children }) => <DocLink {...{ href, children, pages }} /> }}
    >
      {markdown}
    </Markdown>
  </div>
)

const heading = (Level: 'h2' | 'h3' | 'h4') => {
  const Heading = ({ children }: { children?: ReactNode }) => (
    // Stays clear of the header when opened by its address.
    <Level id={anchorOf(textOf(children))} className="scroll-mt-[calc(var(--frame-top,3rem)+1rem)]">
      {children}
    </Level>
  )
  return Heading
}

const components: Components = {
  // The page's header shows it.
  h1: () => null,
  h2: heading('h2'),
  h3: heading('h3'),
  h4: heading('h4'),
  pre: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolled by keyboard
    <pre tabIndex={0} className="overflow-x-auto rounded-md border border-line bg-surface-1 px-3 py-2.5 text-sm">
      {children}
    </pre>
  ),
  code: ({ children }) => <code className="font-mono text-[0.925em] break-words">{children}</code>,
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolled by keyboard
    <div tabIndex={0} className="overflow-x-auto">
      <table className="w-full border-collapse text-base [&_td]:border-b [&_td]:border-line [&_td]:py-1.5 [&_td]:pr-4 [&_td]:align-top [&_th]:border-b [&_th]:border-line [&_th]:py-1.5 [&_th]:pr-4 [&_th]:text-left [&_th]:font-medium">
        {children}
      </table>
    </div>
  ),
  // A table without a header has empty cells there.
  th: ({ children }) => (children ? <th scope="col">{children}</th> : <td />),
  img: ({ alt }) => <span className="text-muted">{alt}</span>,
}

const textOf = (node: ReactNode): string => {
  if (typeof node === 'string' || typeof node === 'number') return String(node)
  if (Array.isArray(node)) return node.map(textOf).join('')
  return isValidElement<{ children?: ReactNode }>(node) ? textOf(node.props.children) : ''
}

interface DocLinkProps {
  href: string
  children: ReactNode
  pages: readonly string[]
}

/** Links between pages stay in the console; files that are only in the repository are named. */
const DocLink = ({ href, children, pages }: DocLinkProps) => {
  const className = 'text-accent underline'
  if (/^https?:/.test(href))
    return (
      <a href={href} target="_blank" rel="noreferrer" className={className}>
        {children}
      </a>
    )
  if (href.startsWith('#'))
    return (
      <a href={href} className={className}>
        {children}
      </a>
    )
  const [, page = '', anchor] = /(?:^|\/)([\w-]+)\.md(?:#(.+))?$/.exec(href) ?? []
  if (!pages.includes(page)) return <span className="font-mono text-[0.925em]">{children}</span>
  return (
    <Link href={paths.doc(page, anchor)} prefetch={false} className={className}>
      {children}
    </Link>
  )
}
