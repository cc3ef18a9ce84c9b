import { randomBytes } from 'node:crypto';

/** A token that cannot be guessed: the one value in the sandbox that must not come from the seed. */
export const newAdminToken = (): string => `admin_${randomBytes(18).toString('base64url')}`;
