//! Requested encryption is confirmed by what the server returns.

use super::*;

/// The first answer is lost, the second attempt is refused because of what the first has written.
#[tokio::test(start_paused = true)]
async fn encryption_of_what_a_lost_answer_wrote_is_confirmed_too() {
    let aes =
        ObjectProperties { encryption: Some(Encryption::Aes256), ..ObjectProperties::default() };
    for is_encrypted in [false, true] {
        let world = World::new(move |seen| {
            let mark = if is_encrypted { "x-amz-server-side-encryption: AES256\r\n" } else { "" };
            match (seen.number, seen.line().starts_with("HEAD")) {
                (0, _) => Reply::error(500, "InternalError"),
                (_, false) => Reply::error(412, "PreconditionFailed"),
                // The MD5 of `hello`.
                (_, true) => Reply::raw(format!(
                    "HTTP/1.1 200 X\r\netag: \"5d41402abc4b2a76b9719d911017c592\"\r\n\
                     content-length: 5\r\n{mark}\r\n"
                )),
            }
        });
        let conditions = Conditions { if_absent: true, ..Conditions::default() };
        let input = PutObject { conditions, ..put("k", &aes) };
        let result = client(&world).put_object(input).await;
        assert_eq!(result.is_ok(), is_encrypted, "{result:?}");
    }
}

/// Encryption that the server ignores, and that it confirms in one way or another.
#[tokio::test(start_paused = true)]
async fn encryption_that_was_asked_for_is_confirmed() {
    let key = CustomerKey { algorithm: "AES256".to_owned(), key: vec![7; 32] };
    let (_, md5) = key.encoded();
    let of_customer = format!(
        "x-amz-server-side-encryption-customer-algorithm: AES256\r\n\
         x-amz-server-side-encryption-customer-key-md5: {md5}\r\n"
    );
    let of_server = "x-amz-server-side-encryption: AES256\r\n".to_owned();
    let aes =
        ObjectProperties { encryption: Some(Encryption::Aes256), ..ObjectProperties::default() };
    let own = ObjectProperties { customer_key: Some(key), ..ObjectProperties::default() };
    for (properties, header, other) in
        [(&aes, &of_server, &of_customer), (&own, &of_customer, &of_server)]
    {
        for (in_answer, in_head, is_confirmed) in [
            (header, None, true),
            (other, Some(header), true),
            (other, Some(other), false),
            (other, None, false),
        ] {
            let (is_in_answer, is_known) = (in_answer == header, in_head.is_some());
            let (in_answer, in_head) = (in_answer.clone(), in_head.cloned());
            let world = World::new(move |seen| match (seen.line().starts_with("HEAD"), &in_head) {
                (false, _) => Reply::status(200, &in_answer, ""),
                (true, Some(header)) => {
                    Reply::raw(format!("HTTP/1.1 200 X\r\netag: e\r\n{header}\r\n"))
                }
                (true, None) => Reply::status(404, "", ""),
            });
            let client = client(&world);
            let result = client.put_object(put("k", properties)).await;
            assert_eq!(result.is_ok(), is_confirmed, "{result:?}");
            let part = UploadPart {
                bucket: "b",
                key: "k",
                upload_id: "u",
                part_number: 1,
                payload: Payload::from_bytes("hello".into()),
                checksum: None,
                encryption: properties.encryption.as_ref(),
                customer_key: properties.customer_key.as_ref(),
            };
            let sent = client.upload_part(part).await;
            assert_eq!(sent.is_ok(), is_in_answer, "parts are confirmed by their answers");
            if let Err(error) = result {
                let message = error.to_string();
                let says = if is_known {
                    "but not with this encryption"
                } else {
                    "could not be confirmed"
                };
                assert!(message.contains("s3://b/k was written"), "{message}");
                assert!(message.contains(says), "{message}");
            }
        }
    }
}
