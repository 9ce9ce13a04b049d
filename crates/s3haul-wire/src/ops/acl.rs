//! Access control lists of objects.
//!
//! <https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectAcl.html>,
//! <https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObjectAcl.html>

use super::build::{get, put};
use crate::client::Client;
use crate::error::Result;
use crate::message::headers::{self, Headers};
use crate::message::properties::Grant;
use crate::xml::document::Element;

/// Grantee of a permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grantee {
    /// Canonical id of an account; empty with servers that have no accounts.
    Id(String),
    /// URI of a group.
    Uri(String),
    /// Address of an account.
    Email(String),
}

/// One permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AclGrant {
    /// Its grantee.
    pub grantee: Grantee,
    /// `FULL_CONTROL`, `READ`, `READ_ACP`, `WRITE_ACP` or `WRITE`.
    pub permission: String,
}

/// Access control list of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acl {
    /// Canonical id of the owner.
    pub owner: String,
    /// Permissions.
    pub grants: Vec<AclGrant>,
}

/// Groups that canned lists name.
const ALL_USERS: &str = "http://acs.amazonaws.com/groups/global/AllUsers";
const AUTHENTICATED_USERS: &str = "http://acs.amazonaws.com/groups/global/AuthenticatedUsers";

impl Acl {
    pub(super) fn read(root: &Element) -> Self {
        let grants = root.child("AccessControlList").map(|list| list.all("Grant").map(grant));
        Self {
            owner: root.child("Owner").map_or("", |owner| owner.text_of("ID")).to_owned(),
            grants: grants.map(Iterator::collect).unwrap_or_default(),
        }
    }

    /// Whether the list equals a canned list; `None` for a canned list that the permissions cannot
    /// identify, because it names others than the owner and the groups.
    /// <https://docs.aws.amazon.com/AmazonS3/latest/userguide/acl-overview.html#canned-acl>
    pub fn is_canned(&self, name: &str) -> Option<bool> {
        let beside_owner: &[(&str, &str)] = match name {
            "private" => &[],
            "public-read" => &[(ALL_USERS, "READ")],
            "public-read-write" => &[(ALL_USERS, "READ"), (ALL_USERS, "WRITE")],
            "authenticated-read" => &[(AUTHENTICATED_USERS, "READ")],
            _ => return None,
        };
        let is_said = |grant: &&AclGrant| match &grant.grantee {
            Grantee::Uri(uri) => beside_owner.contains(&(uri.as_str(), grant.permission.as_str())),
            Grantee::Id(_) => self.is_owners(grant),
            Grantee::Email(_) => false,
        };
        let said = self.grants.iter().filter(is_said).count();
        Some(said == self.grants.len() && said == beside_owner.len() + 1)
    }

    fn is_owners(&self, grant: &AclGrant) -> bool {
        grant.permission == "FULL_CONTROL" && grant.grantee == Grantee::Id(self.owner.clone())
    }

    /// The same as headers of a write; none where only the owner has permissions, which is what a
    /// write without headers gives. `WRITE` means nothing for an object and has no header.
    pub fn as_grants(&self) -> Vec<Grant> {
        if self.grants.iter().all(|grant| self.is_owners(grant)) {
            return Vec::new();
        }
        let mut grants = Vec::new();
        for (name, permission) in [
            ("FULL_CONTROL", "full-control"),
            ("READ", "read"),
            ("READ_ACP", "read-acp"),
            ("WRITE_ACP", "write-acp"),
        ] {
            let of_name = self.grants.iter().filter(|grant| grant.permission == name);
            let grantees: Vec<_> = of_name.map(|grant| grantee_text(&grant.grantee)).collect();
            if !grantees.is_empty() {
                grants.push(Grant { permission, grantees: grantees.join(", ") });
            }
        }
        grants
    }
}

fn grant(element: &Element) -> AclGrant {
    let grantee = element.child("Grantee");
    let text = |name| grantee.and_then(|grantee| grantee.filled(name));
    let grantee = match (text("URI"), text("EmailAddress")) {
        (Some(uri), _) => Grantee::Uri(uri),
        (None, Some(address)) => Grantee::Email(address),
        (None, None) => Grantee::Id(text("ID").unwrap_or_default()),
    };
    AclGrant { grantee, permission: element.text_of("Permission").to_owned() }
}

fn grantee_text(grantee: &Grantee) -> String {
    match grantee {
        Grantee::Id(id) => format!("id=\"{id}\""),
        Grantee::Uri(uri) => format!("uri=\"{uri}\""),
        Grantee::Email(address) => format!("emailAddress=\"{address}\""),
    }
}

impl Client {
    /// Access control list of an object.
    pub async fn get_object_acl(&self, bucket: &str, key: &str) -> Result<Acl> {
        let request =
            get("GetObjectAcl", "AccessControlPolicy", bucket, Some(key)).query("acl", "");
        let answer = self.call(&request).await?;
        Ok(Acl::read(&self.document(&request, &answer)?))
    }

    /// Replaces the access control list of an object by a canned one.
    pub async fn put_object_acl(&self, bucket: &str, key: &str, canned: &str) -> Result<()> {
        let mut headers = Headers::with_capacity(1);
        headers.text(&headers::ACL, canned)?;
        let request = put("PutObjectAcl", bucket, Some(key)).query("acl", "").headers(headers);
        self.call(&request).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acl(grants: &[(&str, &str)]) -> Acl {
        let grant = |(who, permission): &(&str, &str)| {
            let element = if who.starts_with("http") { "URI" } else { "ID" };
            format!(
                "<Grant><Grantee><{element}>{who}</{element}></Grantee>\
                 <Permission>{permission}</Permission></Grant>"
            )
        };
        let grants: String = grants.iter().map(grant).collect();
        let text = format!(
            "<AccessControlPolicy><Owner><ID>me</ID></Owner>\
             <AccessControlList>{grants}</AccessControlList></AccessControlPolicy>"
        );
        Acl::read(&Element::parse(text.as_bytes()).unwrap())
    }

    #[test]
    fn canned_lists_are_known_by_what_they_permit() {
        let private = acl(&[("me", "FULL_CONTROL")]);
        assert_eq!(private.is_canned("private"), Some(true));
        assert_eq!(private.is_canned("public-read"), Some(false));
        let public = acl(&[("me", "FULL_CONTROL"), (ALL_USERS, "READ")]);
        assert_eq!(public.is_canned("public-read"), Some(true));
        for other in ["private", "public-read-write", "authenticated-read"] {
            assert_eq!(public.is_canned(other), Some(false), "{other}");
        }
        assert_eq!(public.is_canned("bucket-owner-read"), None);
        let shared = acl(&[("me", "FULL_CONTROL"), ("you", "READ")]);
        assert_eq!(shared.is_canned("private"), Some(false));
    }

    #[test]
    fn lists_become_headers() {
        assert_eq!(acl(&[("me", "FULL_CONTROL")]).as_grants(), []);
        let grants =
            acl(&[("me", "FULL_CONTROL"), ("you", "READ"), (ALL_USERS, "READ")]).as_grants();
        let expected = [
            Grant { permission: "full-control", grantees: "id=\"me\"".into() },
            Grant { permission: "read", grantees: format!("id=\"you\", uri=\"{ALL_USERS}\"") },
        ];
        assert_eq!(grants, expected);
    }
}
