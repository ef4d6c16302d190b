import { signIn, signOut, switchAccount, whoIsSignedIn } from '#lib/gateway/accounts/sign-in.ts'

export const GET = (request: Request) => whoIsSignedIn(request)
export const POST = (request: Request) => signIn(request)
export const PUT = (request: Request) => switchAccount(request)
export const DELETE = (request: Request) => signOut(request)
