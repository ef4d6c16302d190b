'use client'
import { LogIn } from 'lucide-react'
import { ButtonAnchor } from '#components/ui/button.tsx'

/** A plain link, because it leaves the console for the identity provider. */
export const SignOnLink = ({ provider, href }: { provider: string; href: string }) => (
  <>
    <ButtonAnchor href={href} variant="primary" icon={LogIn} className="w-full">
      <span className="truncate">Sign in with {provider}</span>
    </ButtonAnchor>
    <p className="flex items-center gap-3 text-sm text-muted before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
      or with an API key
    </p>
  </>
)
