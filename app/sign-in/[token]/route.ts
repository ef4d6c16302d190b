import { followSignInLink } from '#lib/gateway/accounts/sign-in.ts'

export const GET = async (request: Request, { params }: { params: Promise<{ token: string }> }) =>
  followSignInLink(request, (await params).token)
