# Writes ca.pem, public.crt and private.key for this machine into the folder given.
import datetime
import ipaddress
import pathlib
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

folder = pathlib.Path(sys.argv[1])
day = datetime.timedelta(days=1)
now = datetime.datetime.now(datetime.timezone.utc)


def name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def signing(authority):
    return x509.KeyUsage(
        digital_signature=True, key_cert_sign=authority, crl_sign=authority,
        content_commitment=False, key_encipherment=False, data_encipherment=False,
        key_agreement=False, encipher_only=False, decipher_only=False)


def builder(subject, key, is_authority):
    limits = x509.BasicConstraints(ca=is_authority, path_length=None)
    made = x509.CertificateBuilder(name("authority"), name(subject), key.public_key())
    made = made.serial_number(x509.random_serial_number())
    made = made.not_valid_before(now - day).not_valid_after(now + day)
    made = made.add_extension(limits, critical=True)
    # Python's strict mode wants both identifiers and the use of keys.
    made = made.add_extension(signing(is_authority), critical=True)
    made = made.add_extension(
        x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    return made.add_extension(
        x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key()), critical=False)


authority, server = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
names = x509.SubjectAlternativeName(
    [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
root = builder("authority", authority, True).sign(authority, hashes.SHA256())
leaf = builder("localhost", server, False).add_extension(names, critical=False)
leaf = leaf.add_extension(
    x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
pem = serialization.Encoding.PEM
(folder / "ca.pem").write_bytes(root.public_bytes(pem))
(folder / "public.crt").write_bytes(leaf.sign(authority, hashes.SHA256()).public_bytes(pem))
key = server.private_bytes(
    pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
(folder / "private.key").write_bytes(key)
