'use client'
import { File, Search, X } from 'lucide-react'
import Link from 'next/link'
import { type KeyboardEvent, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Check } from '#components/ui/choice/check.tsx'
import { Input } from '#components/ui/input.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { useRefusal } from '#components/ui/refusals.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { displayName } from '#lib/browser/address/encode-path.ts'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { baseName, parentPath } from './file-path.ts'
import { fileSearch } from './file-search.ts'
import type { FilesNav } from './files-nav.ts'
import { PathBar } from './path-bar.tsx'
import { type FoundFile, maxSearchedMiB, type SearchQuery, type SearchResults } from './search-commands.ts'

interface SearchViewProps {
  nav: FilesNav
  folder: string
  kind: SearchQuery['kind']
}

/** Searches a folder and everything below it, by name or by content. */
export const SearchView = ({ nav, folder, kind }: SearchViewProps) => {
  const search = fileSearch(nav.devboxId)
  const { query, state, results, unreadable, error } = useSyncExternalStore(
    search.subscribe,
    search.getSnapshot,
    search.getSnapshot,
  )
  const [draft, setDraft] = useState(() => ({ ...(query ?? newQuery), kind, folder }))
  if (draft.kind !== kind) setDraft({ ...draft, kind })
  const field = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const change = (part: Partial<SearchQuery>) => setDraft({ ...draft, ...part })
  const close = () => nav.go(folder, { focused: '' })
  const isRunning = state === 'running'
  const isShown = query?.kind === kind && query.folder === folder
  useEffect(() => {
    nav.takeFocused()
    field.current?.focus()
  }, [nav.takeFocused])
  const notAllowed = useRefusal('executions.executeAsync')
  const refusal = nav.refusal ?? notAllowed ?? (draft.text === '' ? 'enter what to search for' : null)
  return (
    <section
      aria-label="Search"
      className="space-y-3"
      onKeyDown={(event) => {
        if (event.key === 'Escape') close()
        else if (!moveInList(event, list.current, field.current)) return
        event.preventDefault()
      }}
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <p className="text-sm text-muted">Search below</p>
        <PathBar nav={nav} folder={folder} />
        <Button className="ml-auto" icon={X} onClick={close}>
          Close search
        </Button>
      </div>
      <search>
        <form
          className="space-y-2"
          onSubmit={(event) => {
            event.preventDefault()
            if (refusal === null) void search.start({ ...draft, glob: draft.glob.trim() })
          }}
        >
          <div className="flex flex-wrap items-center gap-2">
            <fieldset className="inline-flex">
              <legend className="sr-only">Search in</legend>
              {(['names', 'contents'] as const).map((each) => (
                <Button
                  key={each}
                  aria-pressed={each === kind}
                  onClick={() => nav.go(folder, { find: each, replace: true })}
                  className="first:rounded-r-none last:-ml-px last:rounded-l-none aria-pressed:bg-surface-3"
                >
                  {each === 'names' ? 'Names' : 'Contents'}
                </Button>
              ))}
            </fieldset>
            <Input
              ref={field}
              mono
              icon={Search}
              className="min-w-56 flex-1"
              aria-label={kind === 'names' ? 'Name, part of a name, or pattern' : 'Text to find'}
              placeholder={kind === 'names' ? 'Name, part of a name, or *.ts' : 'Text to find'}
              value={draft.text}
              onChange={({ target }) => change({ text: target.value })}
            />
            {kind === 'contents' && (
              <span className="w-40">
                <Input
                  mono
                  aria-label="File names (pattern)"
                  placeholder="Files: *.ts"
                  value={draft.glob}
                  onChange={({ target }) => change({ glob: target.value })}
                />
              </span>
            )}
            <Button type="submit" variant="primary" icon={Search} busy={isRunning} disabledReason={refusal}>
              Search
            </Button>
            {isRunning && <Button onClick={() => search.cancel()}>Cancel search</Button>}
          </div>
          <div className="flex flex-wrap gap-x-4">
            <Check
              label="Hidden files"
              checked={draft.includesHidden}
              onCheck={(on) => change({ includesHidden: on })}
            />
            <Check label="Match case" checked={draft.matchesCase} onCheck={(on) => change({ matchesCase: on })} />
            {kind === 'contents' && (
              <Check label="Regular expression" checked={draft.isRegex} onCheck={(on) => change({ isRegex: on })} />
            )}
          </div>
        </form>
      </search>
      {isShown && (
        <>
          <p role="status" className="tabular text-sm text-muted">
            {isRunning && 'Searching… '}
            {summary(query, results)}
            {state === 'canceled' && ' Search canceled.'}
            {unreadable > 0 && ` ${formatCountOf(unreadable, 'folder or file', 'folders or files')} couldn't be read.`}
          </p>
          {kind === 'contents' && (
            <p className="text-sm text-muted">Binary files and files over {maxSearchedMiB} MiB are skipped.</p>
          )}
          {state === 'failed' && (
            <Banner tone="danger" role="alert" title="Search failed">
              <VisibleText max={300}>{problemOf(error).message}</VisibleText>
            </Banner>
          )}
          <div ref={list}>
            {kind === 'names' ? (
              <FoundNames nav={nav} files={results.files} />
            ) : (
              <FoundLines nav={nav} query={query} files={results.files} />
            )}
          </div>
        </>
      )}
    </section>
  )
}

const newQuery: SearchQuery = {
  kind: 'names',
  folder: '',
  text: '',
  includesHidden: false,
  matchesCase: false,
  isRegex: false,
  glob: '',
}

const summary = ({ kind }: SearchQuery, { files, total, isMore }: SearchResults): string => {
  if (kind === 'names') {
    if (isMore) return `First ${formatCount(files.length)} of more than ${formatCount(total)} matches shown.`
    if (files.length < total) return `First ${formatCount(files.length)} of ${formatCount(total)} matches shown.`
    return `${formatCountOf(total, 'match', 'matches')}.`
  }
  const found = `${formatCountOf(total, 'line')} in ${formatCountOf(files.length, 'file')}.`
  return isMore ? `The search stopped after the first ${found}` : found
}

const FoundNames = ({ nav, files }: { nav: FilesNav; files: readonly FoundFile[] }) => (
  <ul aria-label="Found files and folders" className="divide-y divide-line border-y border-line empty:hidden">
    {files.map(({ path }) => (
      <li key={path} className="[content-visibility:auto] [contain-intrinsic-size:auto_2rem]">
        <Link
          href={nav.hrefOf(parentPath(path), baseName(path))}
          prefetch={false}
          data-result=""
          className="flex min-h-8 items-center gap-2 px-1 py-1 hover:bg-surface-2 focus-visible:-outline-offset-2"
        >
          <FoundPath path={path} />
        </Link>
      </li>
    ))}
  </ul>
)

const FoundPath = ({ path }: { path: string }) => (
  <>
    <File aria-hidden className="size-4 shrink-0 text-muted" />
    <span className="min-w-0 break-all">
      <VisibleText className="font-medium">{displayName(baseName(path))}</VisibleText>{' '}
      <VisibleText className="text-sm text-muted">{displayName(parentPath(path))}</VisibleText>
    </span>
  </>
)

interface FoundLinesProps {
  nav: FilesNav
  query: SearchQuery
  files: readonly FoundFile[]
}

const FoundLines = ({ nav, query, files }: FoundLinesProps) => (
  <ul aria-label="Found lines" className="space-y-3">
    {files.map(({ path, lines }) => (
      <li key={path} className="[content-visibility:auto] [contain-intrinsic-size:auto_6rem]">
        <h3 className="flex items-center gap-2 py-1">
          <FoundPath path={path} />
          <span className="tabular ml-auto shrink-0 text-sm font-normal text-muted">
            {formatCountOf(lines.length, 'line')}
          </span>
        </h3>
        <ul className="rounded-md border border-line font-mono text-sm">
          {lines.map(({ line, text }) => (
            <li key={line}>
              <Link
                href={nav.hrefOf(parentPath(path), baseName(path), line)}
                prefetch={false}
                data-result=""
                className="flex gap-3 px-2 py-0.5 hover:bg-surface-2 focus-visible:-outline-offset-2"
              >
                <span className="tabular w-12 shrink-0 text-right text-muted">
                  <span className="sr-only">Line </span>
                  {line}
                </span>
                <span className="min-w-0 truncate whitespace-pre">
                  <FoundText query={query} text={text} />
                </span>
              </Link>
            </li>
          ))}
        </ul>
      </li>
    ))}
  </ul>
)

const maxShownText = 300
const textBefore = 60

/** The part of a line around the match, which is marked unless it is of a regular expression. */
const FoundText = ({ query: { text: wanted, isRegex, matchesCase }, text }: { query: SearchQuery; text: string }) => {
  const at = isRegex ? -1 : matchesCase ? text.indexOf(wanted) : text.toLowerCase().indexOf(wanted.toLowerCase())
  if (at === -1) return <VisibleText max={maxShownText}>{text.trimStart()}</VisibleText>
  const start = at > textBefore ? at - textBefore : 0
  const end = at + wanted.length
  return (
    <>
      <VisibleText layout={'\t'}>{(start > 0 ? '…' : '') + text.slice(start, at).trimStart()}</VisibleText>
      <mark className="rounded-sm bg-attention-bg text-attention">
        <VisibleText layout={'\t'}>{text.slice(at, end)}</VisibleText>
      </mark>
      <VisibleText layout={'\t'}>{text.slice(end, start + maxShownText)}</VisibleText>
    </>
  )
}

/** Arrow keys move from the field through the results. */
const moveInList = (event: KeyboardEvent, list: HTMLElement | null, field: HTMLInputElement | null): boolean => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const results = [...(list?.querySelectorAll<HTMLElement>('[data-result]') ?? [])]
  const at = results.indexOf(document.activeElement as HTMLElement)
  if (step === undefined || (at === -1 && document.activeElement !== field)) return false
  const next = at === -1 ? (step === 1 ? results[0] : undefined) : at + step < 0 ? field : results[at + step]
  next?.focus()
  return next !== undefined && next !== null
}
