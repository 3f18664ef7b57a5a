-- Version 10. Identities at a provider.

-- As whom a provider (OpenID Connect) knows an account: by its issuer and subject, never by an e-mail address.
CREATE TABLE account_identity (
    issuer TEXT NOT NULL CHECK (length(issuer) > 0),
    subject TEXT NOT NULL CHECK (length(subject) > 0),
    account INTEGER NOT NULL REFERENCES account(id),
    created TEXT NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX account_identity_account ON account_identity (account);
