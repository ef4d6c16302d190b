import { join, relative } from 'node:path'
import type { Metadata } from 'next'
import { Mark } from '#components/layout/brand.tsx'
import { ThemeMenu } from '#components/layout/theme.tsx'
import { SignInForm } from '#components/sign-in/sign-in-form.tsx'
import { SignOnLink } from '#components/sign-in/sign-on-link.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { ButtonLink } from '#components/ui/button.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { safeNext } from '#lib/browser/address/paths.ts'
import { type PageSearchParams, toSearchParams } from '#lib/browser/address/url-query.ts'
import { readSession } from '#lib/gateway/accounts/session.ts'
import type { SignOnProblem } from '#lib/gateway/accounts/single-sign-on.ts'
import { registry } from '#lib/gateway/registry/registry.ts'

export const metadata: Metadata = { title: 'Sign in' }

export default async function SignInPage({ searchParams }: { searchParams: Promise<PageSearchParams> }) {
  const asked = toSearchParams(await searchParams)
  const next = asked.get('next') ?? undefined
  const session = await readSession()
  const isAdding = session !== null && asked.has('add')
  const { service, config } = registry()
  const problem = asked.get('problem') ?? ''
  return (
    <div className="flex min-h-dvh flex-col">
      <div className="flex justify-end p-3">
        <ThemeMenu />
      </div>
      <main className="mx-auto w-full max-w-96 flex-1 px-4 pt-[10dvh] pb-16">
        <Mark className="size-9" />
        <h1 className="mt-5 text-2xl font-semibold tracking-tight">
          {isAdding ? 'Add an account' : 'Sign in to Devdeck'}
        </h1>
        <p className="mt-1 mb-6 text-lg text-muted">
          {config.signOn
            ? 'For the service at'
            : service.embedded
              ? 'With a key of the local service at'
              : 'With an API key of the service at'}
          <code className="block font-mono text-base break-all text-text">{service.url()}</code>
        </p>
        <div className="space-y-4">
          {asked.get('problem') === 'link-used' && (
            <Banner tone="attention" title="This sign-in link has expired or was used">
              A link works once, within 10 minutes. Enter the key, or restart the console to get a new link.
            </Banner>
          )}
          {session && asked.get('problem') === 'key-refused' && (
            <Banner tone="attention" title="The service no longer accepts your key">
              You are signed in as {session.account.name.slice(0, 60)}. Enter another key, or{' '}
              <TextLink href={safeNext(next)} prefetch={false}>
                try the page again
              </TextLink>
              .
            </Banner>
          )}
          {session && asked.get('problem') !== 'key-refused' && (
            <Banner
              tone="neutral"
              title={`Signed in as ${session.account.name.slice(0, 60)}`}
              actions={
                <ButtonLink href={safeNext(next)} size="sm" prefetch={false}>
                  Continue
                </ButtonLink>
              }
            >
              {isAdding
                ? 'It stays signed in; switch between the accounts in the account menu.'
                : 'Another key takes its place.'}
            </Banner>
          )}
          {Object.hasOwn(signOnProblems, problem) && (
            <Banner tone="attention" {...signOnProblems[problem as SignOnProblem]} />
          )}
          {config.signOn && (
            <SignOnLink
              provider={new URL(config.signOn.issuer).host}
              href={`/sign-in/sso?${new URLSearchParams({ next: safeNext(next), ...(isAdding && { add: '' }) })}`}
            />
          )}
          <SignInForm
            keyFile={service.embedded ? fromHere(join(config.dataDir, 'service', 'api-key')) : undefined}
            next={next}
            isAdding={isAdding}
            isSecond={config.signOn !== undefined}
          />
        </div>
      </main>
    </div>
  )
}

const signOnProblems: Record<SignOnProblem, { title: string; children: string }> = {
  'sso-away': {
    title: 'The provider of single sign-on gave no good answer',
    children: 'Try again, or sign in with an API key. The log of the console says what it answered.',
  },
  'sso-late': {
    title: 'That sign-on is over',
    children: 'It took longer than ten minutes, or was begun in another browser. Begin it again.',
  },
  'sso-refused': {
    title: 'The provider did not sign you on',
    children: 'It was cancelled there, or this console is none that you may use.',
  },
  'sso-nobody': {
    title: 'You signed on, and have no account here',
    children: 'Ask the operator of this console for one: the log of the console says whom the provider named.',
  },
  'sso-key': {
    title: 'You signed on, and the service refused the key of your account',
    children: 'Ask the operator of this console to set another one.',
  },
  'sso-service': {
    title: 'You signed on, and the service did not answer',
    children: 'Try again in a moment. The log of the console says why.',
  },
  'sso-full': {
    title: 'You signed on, and this browser has as many accounts as it may have',
    children: 'Sign out of one first.',
  },
}

const fromHere = (file: string) => {
  const path = relative(process.cwd(), file)
  return path.startsWith('..') ? file : path
}
