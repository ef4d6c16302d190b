import Link from 'next/link'
import Markdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { paths } from '#lib/browser/address/paths.ts'
import { resolvePath } from './file-path.ts'

interface MarkdownPreviewProps {
  label: string
  devboxId: string
  folder: string
  text: string
}

/** HTML in the text is shown as text, and images aren't loaded, so opening a file makes no requests. */
export const MarkdownPreview = ({ label, devboxId, folder, text }: MarkdownPreviewProps) => (
  <section
    aria-label={label}
    className="max-w-4xl space-y-3 rounded-md border border-line px-5 py-4 text-lg wrap-anywhere [&_blockquote]:border-l-2 [&_blockquote]:border-line-strong [&_blockquote]:pl-3 [&_blockquote]:text-muted [&_h1]:text-2xl [&_h1]:font-semibold [&_h2]:pt-3 [&_h2]:text-xl [&_h2]:font-semibold [&_h3]:pt-2 [&_h3]:font-semibold [&_h4]:font-semibold [&_ol]:list-decimal [&_ol]:pl-6 [&_ul]:list-disc [&_ul]:pl-6"
  >
    <Markdown
      remarkPlugins={[remarkGfm]}
      components={{
        ...components,
        a: ({ href = '', children }) => <FileLink {...{ href, children, devboxId, folder }} />,
      }}
    >
      {text}
    </Markdown>
  </section>
)

const components: Components = {
  pre: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolled by keyboard
    <pre tabIndex={0} className="overflow-x-auto rounded-md border border-line bg-surface-1 px-3 py-2.5 text-sm">
      {children}
    </pre>
  ),
  code: ({ children }) => <code className="font-mono text-[0.925em]">{children}</code>,
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolled by keyboard
    <div tabIndex={0} className="overflow-x-auto">
      <table className="border-collapse text-base [&_td]:border-b [&_td]:border-line [&_td]:py-1.5 [&_td]:pr-4 [&_td]:align-top [&_th]:border-b [&_th]:border-line [&_th]:py-1.5 [&_th]:pr-4 [&_th]:text-left [&_th]:font-medium">
        {children}
      </table>
    </div>
  ),
  input: ({ checked }) => <span>{checked ? '☑' : '☐'} </span>,
  img: ({ alt, src }) => (
    <span
      className="rounded-sm bg-surface-2 px-1 text-base text-muted"
      title={typeof src === 'string' ? src : undefined}
    >
      Image: {alt || 'no description'}
    </span>
  ),
  hr: () => <hr className="border-line" />,
}

interface FileLinkProps {
  href: string
  children?: React.ReactNode
  devboxId: string
  folder: string
}

/** A web address opens in a new tab, and a path in the devbox in Files. */
const FileLink = ({ href, children, devboxId, folder }: FileLinkProps) => {
  if (/^(https?|mailto):/i.test(href))
    return (
      <a href={href} target="_blank" rel="noreferrer" title={href} className={link}>
        {children}
      </a>
    )
  const path = /^[a-z][\w+.-]*:|^\/\/|^#/i.test(href) ? null : pathOf(href)
  if (!path) return <span>{children}</span>
  return (
    <Link href={paths.devboxFile(devboxId, resolvePath(folder, path))} prefetch={false} className={link}>
      {children}
    </Link>
  )
}

const link = 'text-accent underline'

const pathOf = (href: string): string | null => {
  try {
    return decodeURIComponent(href.replace(/[?#].*$/, ''))
  } catch {
    return null
  }
}
