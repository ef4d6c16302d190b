import { registry } from '../registry/registry.ts'
import { isSecure, originOfHost, type ReadHeader } from './origin.ts'

export const cookiesOf = (header: ReadHeader): string[] => (header('cookie') ?? '').split(/; */)

export const cookieValues = (header: ReadHeader, name: string): string[] =>
  cookiesOf(header).flatMap((each) => (each.startsWith(`${name}=`) ? [each.slice(name.length + 1)] : []))

// Cookies are shared between ports, so the name contains the port that people open. Not the listening port: several
// consoles behind one public origin share their sessions.
export const sessionCookieName = (header: ReadHeader): string => {
  const secure = isSecure(header)
  const { port } = new URL(originOfHost(header('host')) ?? `http://localhost:${registry().port}`)
  return `${secure ? '__Host-' : ''}devdeck_session_${port || (secure ? 443 : 80)}`
}

export const setCookie = (
  header: ReadHeader,
  name: string,
  value: string,
  { maxAge, sameSite }: { maxAge: number; sameSite: 'Strict' | 'Lax' },
): string =>
  `${name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=${sameSite}${isSecure(header) ? '; Secure' : ''}`
