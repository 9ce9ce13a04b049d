//! The OCI image, written by hand: two JSON documents and a layer need neither a daemon nor a
//! registry. It holds the command, glibc and the authorities' certificates as Debian ships them, a
//! user without rights, and no shell.
//!
//! `podman load -i` and `docker load -i` take it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use support::process;

use super::files::{VERSION, fresh, gzip, names, set_modes, sha256, tar};
use super::tree::{DOCUMENTS, NOTICES, SBOM, Tree, debian_architecture};

/// What comes from Debian; `status.d` tells scanners its versions, as distroless images do.
const PACKAGES: [&str; 2] = ["libc6", "ca-certificates"];
/// User and group of the command, and its home; the number is that of distroless images.
pub(super) const USER: &str = "65532";
pub(super) const HOME: &str = "home/nonroot";

/// Writes the image as an archive in OCI layout.
pub(super) fn write(tree: &Tree, folder: &Path) -> Result<()> {
    let work = fresh(&process::target().join("dist-image"))?;
    let root = lay_out(tree, &work)?;
    let layer = work.join("layer.tar");
    let mut files = tar("-cf", &layer, &root)?;
    let files = files.args(["--owner=0", "--group=0", "--exclude"]).arg(format!("./{HOME}"));
    process::run_quietly(files.arg("."))?;
    let mut home = tar("-rf", &layer, &root)?;
    let [owner, group] = ["owner", "group"].map(|who| format!("--{who}={USER}"));
    process::run_quietly(home.args([owner, group]).arg(format!("./{HOME}")))?;
    let layers = format!("sha256:{}", sha256(&layer)?);
    gzip(&layer)?;

    let mut layout = Layout { folder: fresh(&work.join("layout"))?, work: work.clone() };
    let architecture = debian_architecture(&tree.machine);
    let layer = layout.add(&work.join("layer.tar.gz"), "layer.v1.tar+gzip")?;
    let config = json!({
        "architecture": architecture,
        "os": "linux",
        "config": {
            "User": USER,
            "Env": ["PATH=/usr/bin", format!("HOME=/{HOME}")],
            "Entrypoint": ["/usr/bin/s3haul"],
            "WorkingDir": format!("/{HOME}"),
            "Labels": {
                "org.opencontainers.image.source": "https://github.com/s3haul/s3haul",
                "org.opencontainers.image.licenses": "Apache-2.0",
                "org.opencontainers.image.version": VERSION,
            },
        },
        "rootfs": { "type": "layers", "diff_ids": [layers] },
    });
    let config = layout.add_json(&config, "config.v1+json")?;
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": media_type("manifest.v1+json"),
        "config": config,
        "layers": [layer],
    });
    let mut manifest = layout.add_json(&manifest, "manifest.v1+json")?;
    manifest["annotations"] =
        json!({ "org.opencontainers.image.ref.name": format!("s3haul:{VERSION}") });
    manifest["platform"] = json!({ "architecture": architecture, "os": "linux" });
    let index = json!({ "schemaVersion": 2, "manifests": [manifest] });
    fs::write(layout.folder.join("index.json"), index.to_string())?;
    fs::write(layout.folder.join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#)?;
    set_modes(&layout.folder)?;
    let archive = folder.join(format!("s3haul-{VERSION}-{}.oci.tar", tree.machine));
    let mut all = tar("-cf", &archive, &layout.folder)?;
    all.args(["--owner=0", "--group=0"]).args(names(&layout.folder)?);
    process::run_quietly(&mut all).map(drop)
}

fn media_type(kind: &str) -> String {
    format!("application/vnd.oci.image.{kind}")
}

/// Blobs by their digest.
struct Layout {
    folder: PathBuf,
    work: PathBuf,
}

impl Layout {
    /// Moves a file in and describes it.
    fn add(&mut self, file: &Path, kind: &str) -> Result<Value> {
        let digest = sha256(file)?;
        let size = fs::metadata(file)?.len();
        let blobs = self.folder.join("blobs/sha256");
        fs::create_dir_all(&blobs)?;
        fs::rename(file, blobs.join(&digest))?;
        Ok(json!({
            "mediaType": media_type(kind),
            "digest": format!("sha256:{digest}"),
            "size": size,
        }))
    }

    fn add_json(&mut self, value: &Value, kind: &str) -> Result<Value> {
        let file = self.work.join("blob.json");
        fs::write(&file, value.to_string())?;
        self.add(&file, kind)
    }
}

/// The files of the image.
fn lay_out(tree: &Tree, work: &Path) -> Result<PathBuf> {
    let root = fresh(&work.join("root"))?;
    fs::create_dir(root.join("usr"))?;
    let to = root.join("usr");
    process::run_quietly(Command::new("cp").arg("-a").arg(tree.path.join("bin")).arg(&to))?;
    fs::create_dir_all(to.join(DOCUMENTS))?;
    for name in ["LICENSE", NOTICES, SBOM] {
        fs::copy(tree.path.join(DOCUMENTS).join(name), to.join(DOCUMENTS).join(name))?;
    }
    let packages = work.join("packages");
    fs::create_dir(&packages)?;
    let mut download = Command::new("apt-get");
    // Not as the user `_apt`, who cannot write here.
    download.args(["-o", "APT::Sandbox::User=root", "download", "-q"]).args(PACKAGES);
    process::run_quietly(download.current_dir(&packages))?;
    for file in names(&packages)? {
        let package = packages.join(&file);
        let name = file.split('_').next().unwrap_or_default();
        let from = fresh(&work.join(name))?;
        process::run_quietly(Command::new("dpkg-deb").arg("-x").arg(&package).arg(&from))?;
        let fields = process::run_quietly(Command::new("dpkg-deb").arg("-f").arg(&package))?;
        write_file(&root, &format!("var/lib/dpkg/status.d/{name}"), &fields)?;
        let licence = format!("usr/share/doc/{name}/copyright");
        write_file(&root, &licence, &fs::read_to_string(from.join(&licence))?)?;
    }
    let library = work.join("libc6/lib");
    ensure!(library.exists(), "libc6 is not laid out as in Debian 12, which the image is made on");
    let mut copy = Command::new("cp");
    // Machines whose loader lies in `lib` have no `lib64`.
    let loader = Some(work.join("libc6/lib64")).filter(|folder| folder.exists());
    process::run_quietly(copy.arg("-a").arg(&library).args(loader).arg(&root))?;
    write_file(&root, "etc/ssl/certs/ca-certificates.crt", &certificates(work)?)?;
    let user = format!("nonroot:x:{USER}:{USER}::/{HOME}:/sbin/nologin\n");
    write_file(&root, "etc/passwd", &format!("root:x:0:0::/root:/sbin/nologin\n{user}"))?;
    write_file(&root, "etc/group", &format!("root:x:0:\nnonroot:x:{USER}:\n"))?;
    write_file(&root, "etc/nsswitch.conf", "hosts: files dns\n")?;
    fs::create_dir_all(root.join(HOME))?;
    fs::create_dir(root.join("tmp"))?;
    set_modes(&root)?;
    fs::set_permissions(root.join(HOME), fs::Permissions::from_mode(0o700))?;
    fs::set_permissions(root.join("tmp"), fs::Permissions::from_mode(0o1777))?;
    Ok(root)
}

fn write_file(root: &Path, name: &str, text: &str) -> Result<()> {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap_or(root))?;
    Ok(fs::write(path, text)?)
}

/// The authorities' certificates one after the other, as `update-ca-certificates` has them.
fn certificates(work: &Path) -> Result<String> {
    let folder = work.join("ca-certificates/usr/share/ca-certificates/mozilla");
    let mut all = String::new();
    for name in names(&folder)? {
        all.push_str(&fs::read_to_string(folder.join(name))?);
    }
    ensure!(all.contains("BEGIN CERTIFICATE"), "Debian's package has no certificates");
    Ok(all)
}
