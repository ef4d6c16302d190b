import type { Metadata, Viewport } from 'next'
import localFont from 'next/font/local'
import { cookies } from 'next/headers'
import type { ReactNode } from 'react'
import { rootChoices } from '#lib/browser/frame/preferences.ts'
import { serviceNow } from '#lib/gateway/upstream/clock.ts'
import './globals.css'
import { Providers } from './providers.tsx'

const geist = localFont({
  src: '../node_modules/@fontsource-variable/geist/files/geist-latin-wght-normal.woff2',
  variable: '--font-geist',
  weight: '100 900',
  display: 'swap',
})
const geistMono = localFont({
  src: '../node_modules/@fontsource-variable/geist-mono/files/geist-mono-latin-wght-normal.woff2',
  variable: '--font-geist-mono',
  weight: '100 900',
  display: 'swap',
  // Adjusting would make the fallback font proportional.
  adjustFontFallback: false,
})

export const metadata: Metadata = {
  title: { default: 'Devdeck', template: '%s · Devdeck' },
  description: 'Devboxes, axons and benchmarks',
  robots: { index: false },
}
export const viewport: Viewport = { width: 'device-width', initialScale: 1 }

// Reading cookies also keeps every page dynamic, which the per-request CSP nonce requires.
export default async function RootLayout({ children }: { children: ReactNode }) {
  const remembered = await cookies()
  return (
    <html
      lang="en"
      {...rootChoices((name) => remembered.get(name)?.value)}
      className={`${geist.variable} ${geistMono.variable}`}
    >
      <body>
        <Providers nowMs={serviceNow()}>{children}</Providers>
      </body>
    </html>
  )
}
