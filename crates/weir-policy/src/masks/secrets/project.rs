//! Names that hold secrets in a project, and names that only look like it.

use super::{Secret, secret};

/// Names of environment files in the project. They are hidden below `vendor` and `deps` too, where a project may keep
/// its own.
pub const ENVIRONMENTS: &[Secret] = &[
    secret(".env", "environment with secrets"),
    secret(".env.*", "environment with secrets"),
    secret(".env-*", "environment with secrets"),
    secret(".env_*", "environment with secrets"),
    secret(".env~", "a backup of an environment with secrets"),
    secret("*.env", "environment with secrets"),
    secret("*.env~", "a backup of an environment with secrets"),
    secret("*.env.bak", "a backup of an environment with secrets"),
    secret("*.env.backup", "a backup of an environment with secrets"),
    secret("*.env.old", "a backup of an environment with secrets"),
    secret("*.env.orig", "a backup of an environment with secrets"),
    secret("*.env.save", "a backup of an environment with secrets"),
    secret("*.env.local", "environment with secrets"),
    secret(".dev.vars", "environment with secrets"),
    secret(".dev.vars.*", "environment with secrets"),
];

/// Names of other files with secrets in the project, at any depth outside dependency folders.
///
/// Deliberately readable: `.npmrc`, since npm needs the project's own, and a token belongs in the user's; `*.crt` and
/// `*.pub`, which are public; other `*.tfvars`, which hold settings more often than secrets.
pub const PROJECT: &[Secret] = &[
    // Keys and certificates.
    secret("*.pem", "a private key or certificate"),
    secret("*.key", "a private key"),
    secret("*.p12", "a private key"),
    secret("*.pfx", "a private key"),
    secret("*.p8", "a private key"),
    secret("*.keystore", "a store of keys"),
    secret("*.jks", "a store of keys"),
    secret("*.kdbx", "a KeePass database"),
    secret("*.ppk", "a private key of PuTTY"),
    secret("*.ovpn", "a VPN profile with its key"),
    secret("*.keytab", "a Kerberos key table"),
    secret("id_rsa*", "an SSH key"),
    secret("id_dsa*", "an SSH key"),
    secret("id_ecdsa*", "an SSH key"),
    secret("id_ed25519*", "an SSH key"),
    secret("deploy_key", "an SSH key"),
    secret("deploy-key", "an SSH key"),
    secret("*_deploy_key", "an SSH key"),
    secret("*-deploy-key", "an SSH key"),
    secret("master.key", "the key of Rails' credentials"),
    secret("keystore.properties", "passwords of a store of keys"),
    // Passwords and tokens of tools.
    secret(".netrc", "passwords of network tools"),
    secret("_netrc", "passwords of network tools"),
    secret(".git-credentials", "passwords of git"),
    secret(".pgpass", "PostgreSQL passwords"),
    secret("pgpass.conf", "PostgreSQL passwords"),
    secret(".my.cnf", "MySQL passwords"),
    secret(".mylogin.cnf", "MySQL passwords"),
    secret(".pypirc", "tokens of Python packages"),
    secret(".htpasswd", "passwords of a web server"),
    secret(".dockercfg", "Docker credentials"),
    secret(".dockerconfigjson", "Docker credentials"),
    secret(".s3cfg", "credentials of s3cmd"),
    secret(".boto", "credentials of boto"),
    secret(".databrickscfg", "Databricks credentials"),
    secret(".sentryclirc", "tokens of Sentry"),
    secret(".terraformrc", "Terraform credentials"),
    secret(".vault-token", "a token of Vault"),
    secret(".vault_pass*", "a password of Ansible Vault"),
    secret(".vault-pass*", "a password of Ansible Vault"),
    secret("kubeconfig", "Kubernetes credentials"),
    secret("kubeconfig.yaml", "Kubernetes credentials"),
    secret("kubeconfig.yml", "Kubernetes credentials"),
    secret("kubeconfig.json", "Kubernetes credentials"),
    secret("*.kubeconfig", "Kubernetes credentials"),
    // Clouds.
    secret("service-account*.json", "a Google service account"),
    secret("service_account*.json", "a Google service account"),
    secret("serviceaccount*.json", "a Google service account"),
    secret("gcp-key*.json", "a Google service account"),
    secret("*-firebase-adminsdk-*.json", "a Firebase service account"),
    secret("client_secret*.json", "an OAuth client's secret"),
    secret("rootkey.csv", "AWS credentials"),
    secret("*accesskeys.csv", "AWS credentials"),
    secret("*.tfstate", "Terraform state, which holds secrets in plain text"),
    secret("*.tfstate.backup", "Terraform state, which holds secrets in plain text"),
    secret("terraform.tfvars", "values of Terraform variables, passwords among them"),
    secret("terraform.tfvars.json", "values of Terraform variables, passwords among them"),
    secret("*secret*.tfvars", "values of Terraform variables"),
    // Files whose names say that they hold secrets.
    secret("credentials", "credentials"),
    secret(".credentials", "credentials"),
    secret("credentials.json", "credentials"),
    secret(".credentials.json", "credentials"),
    secret("credentials.yml", "credentials"),
    secret("credentials.yaml", "credentials"),
    secret("credentials.toml", "credentials"),
    secret("credentials.csv", "credentials"),
    secret("credentials.xml", "credentials"),
    secret(".secret", "secrets"),
    secret(".secrets", "secrets"),
    secret(".secrets.*", "secrets"),
    secret("secrets.yml", "secrets"),
    secret("secrets.yaml", "secrets"),
    secret("secrets.json", "secrets"),
    secret("secrets.toml", "secrets"),
    // Settings of frameworks that hold passwords by design.
    secret("wp-config.php", "the database's password"),
    secret("local.settings.json", "secrets of Azure Functions"),
];

/// Names that look like one of the above but are meant to be read: public keys and example environments.
pub const PUBLIC: &[&str] = &[
    "id_*.pub", ".secrets.baseline", ".env.example", ".env.sample", ".env.template", ".env.dist", ".env.defaults",
    ".env.default", ".env.schema", ".env.*.example", ".env.*.sample", ".env.*.template", ".env-example", ".env-sample",
    ".env-template", ".env-dist", ".env_example", ".env_sample", ".env_template", "example.env", "sample.env",
    "template.env", ".dev.vars.example",
];

/// Folders in the project whose names say that they hold secrets. One called `.env` may be a Python environment
/// instead, which its contents show.
pub const FOLDERS: &[Secret] = &[
    secret(".env", "environments with secrets"),
    secret(".envs", "environments with secrets"),
    secret(".secrets", "secrets"),
];

/// Folders that tools fill and that default masks skip, since they contain many test keys. The user's denials do apply
/// in them.
pub const DEPENDENCIES: &[&str] = &[
    "node_modules", "bower_components", "target", ".venv", "venv", "vendor", "__pycache__", ".tox", ".nox",
    "site-packages", ".gradle", ".m2", ".cargo", ".terraform", "Pods", "deps", "_build", ".yarn", ".pnpm-store",
    "dist-newstyle", ".next", ".direnv",
];

/// Dependency folders in which a project may keep files of its own.
pub const VENDORED: &[&str] = &["vendor", "deps"];
