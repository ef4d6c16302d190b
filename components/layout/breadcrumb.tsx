'use client'
import { ChevronRight } from 'lucide-react'
import Link from 'next/link'
import { usePathname } from 'next/navigation'
import { Fragment } from 'react'
import { shortenMiddle } from '#components/ui/text.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { destinations } from './navigation.ts'
import { usePageName } from './page-name.tsx'

export const Breadcrumb = () => {
  const pathname = usePathname()
  const { parents, id } = locate(pathname)
  const name = usePageName(id)
  const crumbs = id ? [...parents, { label: name ?? shortenMiddle(id, 18), href: pathname }] : parents
  return (
    <nav aria-label="Breadcrumb" className="min-w-0">
      <ol className="flex min-w-0 items-center gap-1">
        {crumbs.map(({ label, href }, index) => {
          const isLast = index === crumbs.length - 1
          const isDistant = index < crumbs.length - 2
          return (
            <Fragment key={href}>
              {index > 0 && (
                <li aria-hidden className={index === crumbs.length - 2 ? 'hidden sm:block' : undefined}>
                  <ChevronRight className="size-3.5 text-muted" />
                </li>
              )}
              <li className={isLast ? 'min-w-0 truncate' : isDistant ? 'hidden shrink-0 sm:block' : 'shrink-0'}>
                {isLast ? (
                  <span aria-current="page" className={id ? 'text-muted' : 'font-medium'}>
                    <VisibleText max={60} mono={id !== undefined && name === undefined}>
                      {label}
                    </VisibleText>
                  </span>
                ) : (
                  <Link href={href} prefetch={false} className="rounded-sm text-muted hover:text-text">
                    {label}
                  </Link>
                )}
              </li>
            </Fragment>
          )
        })}
      </ol>
    </nav>
  )
}

/** Sections of the breadcrumb; every other segment is an id. */
const sections: { label: string; href: string }[] = [
  ...destinations,
  { label: 'History', href: paths.evictionHistory() },
]

const locate = (pathname: string) => {
  const parents = sections
    .filter(({ href }) => pathname === href || (href !== '/' && pathname.startsWith(`${href}/`)))
    .map(({ label, href }) => ({ label, href }))
    .sort((a, b) => a.href.length - b.href.length)
  const deepest = parents.at(-1)
  return { parents, id: (deepest && pathname.slice(deepest.href.length + 1).split('/')[0]) || undefined }
}
