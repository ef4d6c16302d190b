'use client'
import { ChevronRight } from 'lucide-react'
import Link from 'next/link'
import { usePathname, useSearchParams } from 'next/navigation'
import { Fragment, useEffect, useState } from 'react'
import { shortenMiddle } from '#components/ui/text.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { readTab, writeTab } from '#lib/browser/frame/tab-storage.ts'
import { destinations } from './navigation.ts'
import { usePageName } from './page-name.tsx'

export const Breadcrumb = () => {
  const pathname = usePathname()
  const { above, id } = placeOf(pathname)
  const search = useSearchParams()
  const [asLeft, setAsLeft] = useState<Record<string, string>>({})
  // The way back is to a list as this tab showed it last: as it was filtered.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address tells where one is
  useEffect(() => {
    if (!id) writeTab(tabKey + pathname, pathname + location.search)
    setAsLeft(Object.fromEntries(above.map(({ href }) => [href, readTab(tabKey + href) ?? href])))
  }, [pathname, search])
  const name = usePageName(id)
  const crumbs = id ? [...above, { label: name ?? shortenMiddle(id, 18), href: pathname }] : above
  return (
    <nav aria-label="Breadcrumb" className="min-w-0">
      <ol className="flex min-w-0 items-center gap-1">
        {crumbs.map(({ label, href }, index) => {
          const isLast = index === crumbs.length - 1
          // A narrow screen has room for where one is and what is above it.
          const isFar = index < crumbs.length - 2
          return (
            <Fragment key={href}>
              {index > 0 && (
                <li aria-hidden className={index === crumbs.length - 2 ? 'hidden sm:block' : undefined}>
                  <ChevronRight className="size-3.5 text-muted" />
                </li>
              )}
              <li className={isLast ? 'min-w-0 truncate' : isFar ? 'hidden shrink-0 sm:block' : 'shrink-0'}>
                {isLast ? (
                  <span aria-current="page" className={id ? 'text-muted' : 'font-medium'}>
                    <VisibleText max={60} mono={id !== undefined && name === undefined}>
                      {label}
                    </VisibleText>
                  </span>
                ) : (
                  <Link href={asLeft[href] ?? href} prefetch={false} className="rounded-sm text-muted hover:text-text">
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

const tabKey = 'devdeck.shown:'

/** Those of the navigation, and what is below one without being a thing that has an id. */
const places: { label: string; href: string }[] = [...destinations, { label: 'History', href: paths.evictionHistory() }]

/** The places that lead to `pathname`, and the id of the thing it shows. */
const placeOf = (pathname: string) => {
  const above = places
    .filter(({ href }) => pathname === href || (href !== '/' && pathname.startsWith(`${href}/`)))
    .map(({ label, href }) => ({ label: label, href }))
    .sort((a, b) => a.href.length - b.href.length)
  const deepest = above.at(-1)
  return { above, id: (deepest && pathname.slice(deepest.href.length + 1).split('/')[0]) || undefined }
}
