import { join, relative } from 'node:path'
import type { Metadata } from 'next'
import { Mark } from '#components/layout/brand.tsx'
import { ThemeMenu } from '#components/layout/theme.tsx'
import { SignInForm, SignOnLink } from '#components/sign-in/sign-in-form.tsx'
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
  const query = toSearchParams(await searchParams)
  const next = query.get('next') ?? undefined
  const session = await readSession()
  const isAdding = session !== null && query.has('add')
  const { service, config } = registry()
  const problem = query.get('problem') ?? ''
  return (
    <div className="flex min-h-dvh flex-col">
      <div className="flex justify-end p-3">
        <ThemeMenu />
      </div>
      <main className="mx-auto w-full max-w-96 flex-1 px-4 pt-[10dvh] pb-16">
        <Mark className="size-9" />
        <h1 className="mt-5 text-2xl font-semibold tracking-tight">
          {isAdding ? 'Add account' : 'Sign in to Devdeck'}
        </h1>
        <p className="mt-1 mb-6 text-lg text-muted">
          {config.signOn
            ? 'Service:'
            : service.embedded
              ? 'Use an API key of the local service:'
              : 'Use an API key of the service:'}
          <code className="block font-mono text-base break-all text-text">{service.url()}</code>
        </p>
        <div className="space-y-4">
          {problem === 'link-used' && (
            <Banner tone="attention" title="This sign-in link has expired or was already used">
              Links work once and expire after 10 minutes. Enter the key, or restart the console to get a new link.
            </Banner>
          )}
          {session && problem === 'key-refused' && (
            <Banner tone="attention" title="The service no longer accepts your key">
              You are signed in as {session.account.name.slice(0, 60)}. Enter another key, or{' '}
              <TextLink href={safeNext(next)} prefetch={false}>
                try the page again
              </TextLink>
              .
            </Banner>
          )}
          {session && problem !== 'key-refused' && (
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
                ? 'This account stays signed in. Switch accounts in the account menu.'
                : 'Signing in with another key replaces it.'}
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
          {!config.isSignOnOnly && (
            <SignInForm
              keyFile={service.embedded ? relativePath(join(config.dataDir, 'service', 'api-key')) : undefined}
              next={next}
              isAdding={isAdding}
              isSecondary={config.signOn !== undefined}
            />
          )}
        </div>
      </main>
    </div>
  )
}

const signOnProblems: Record<SignOnProblem, { title: string; children: string }> = {
  'sso-away': {
    title: 'Single sign-on failed: unexpected response from the identity provider',
    children: "Try again in a moment. The console's log has the response.",
  },
  'sso-late': {
    title: 'This sign-in has expired',
    children: 'It took longer than 10 minutes or was started in another browser. Start again.',
  },
  'sso-refused': {
    title: 'The identity provider did not sign you in',
    children: "The sign-in was canceled, or you don't have access to this console.",
  },
  'sso-nobody': {
    title: "You don't have an account here",
    children: "Ask the operator of this console for one. The console's log has your identity.",
  },
  'sso-key': {
    title: "The service rejected your account's API key",
    children: 'Ask the operator of this console to replace it.',
  },
  'sso-service': {
    title: 'The service is not responding',
    children: "Try again in a moment. The console's log has the reason.",
  },
  'sso-full': { title: 'This browser is signed in to too many accounts', children: 'Sign out of one first.' },
}

const relativePath = (file: string) => {
  const path = relative(process.cwd(), file)
  return path.startsWith('..') ? file : path
}
